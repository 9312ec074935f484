import { defineCase } from '../lib/case.mjs';
import { checkComposition, composition, FaultError } from '../lib/toolkeel.mjs';

export default defineCase({
  name: '… answered by .outcome(), which never throws',
  make: ({ callee }) => {
    const { call: guarded, layers } = composition(callee);
    const checked = async () => {
      const outcome = await guarded.outcome(undefined);
      if (outcome.ok) return outcome.value;
      throw new FaultError(outcome.fault);
    };
    return { call: () => guarded.outcome(undefined), checked, layers };
  },
  selfCheck: checkComposition,
});
