import { defineCase } from '../lib/case.mjs';
import { expect } from '../lib/self-check.mjs';
import { checkComposition, composition, observe } from '../lib/toolkeel.mjs';

export default defineCase({
  name: '… with an observer',
  make: ({ callee }) => {
    const seen = { calls: 0, openings: 0 };
    const listening = observe(({ type }) => {
      if (type === 'call_end') seen.calls += 1;
      else if (type === 'circuit_open') seen.openings += 1;
    });
    return { ...composition(callee, [listening]), seen };
  },
  selfCheck: async (subject) => {
    await checkComposition(subject);
    expect(subject.seen.calls > 0 && subject.seen.openings === 1, 'its observer saw too little');
  },
});
