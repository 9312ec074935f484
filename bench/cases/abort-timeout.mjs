import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'AbortSignal.timeout',
  make: ({ callee }) => {
    const call = async () => {
      const signal = AbortSignal.timeout(10_000);
      const value = await callee();
      return signal.aborted ? undefined : value;
    };
    return { call };
  },
  selfCheck: answers,
});
