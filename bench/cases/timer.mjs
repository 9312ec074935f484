import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'setTimeout and clearTimeout',
  make: ({ callee }) => {
    const call = async () => {
      const timer = setTimeout(() => {}, 10_000);
      const value = await callee();
      clearTimeout(timer);
      return value;
    };
    return { call };
  },
  selfCheck: answers,
});
