import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'two readings of performance.now',
  make: ({ callee }) => {
    const call = async () => {
      const started = performance.now();
      const value = await callee();
      const took = performance.now() - started;
      return took < 0 ? undefined : value;
    };
    return { call };
  },
  selfCheck: answers,
});
