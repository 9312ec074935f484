import { defineCase } from '../lib/case.mjs';
import { checkComposition, composition } from '../lib/toolkeel.mjs';

export default defineCase({
  name: '… the callee reads its signal',
  make: ({ callee }) => {
    let aborted = 0;
    return composition((_input, { signal }) => {
      if (signal.aborted) aborted += 1;
      return callee();
    });
  },
  selfCheck: checkComposition,
});
