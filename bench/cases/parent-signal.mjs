import { defineCase } from '../lib/case.mjs';
import { checkComposition, composition } from '../lib/toolkeel.mjs';

export default defineCase({
  name: '… the caller passes an AbortSignal',
  make: ({ callee }) => {
    const { call: guarded, layers } = composition(callee);
    const { signal } = new AbortController();
    return { call: () => guarded(undefined, { signal }), layers };
  },
  selfCheck: checkComposition,
});
