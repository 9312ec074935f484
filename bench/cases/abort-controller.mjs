import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'an AbortController whose signal is read',
  make: ({ callee }) => {
    const call = async () => {
      const { signal } = new AbortController();
      const value = await callee();
      return signal.aborted ? undefined : value;
    };
    return { call };
  },
  selfCheck: answers,
});
