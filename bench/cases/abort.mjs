import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'an AbortController that is aborted on return',
  make: ({ callee }) => {
    const call = async () => {
      const controller = new AbortController();
      const value = await callee();
      controller.abort();
      return value;
    };
    return { call };
  },
  selfCheck: answers,
});
