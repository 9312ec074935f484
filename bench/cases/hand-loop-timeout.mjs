import { defineCase } from '../lib/case.mjs';
import { retryLoop } from '../lib/hand-loop.mjs';
import { retries, timesOut } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';

export default defineCase({
  name: 'a loop written by hand, raced against a timer',
  make: ({ callee }) => {
    const loop = retryLoop(callee);
    const call = async () => {
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error('too late')), settings.timeoutMs);
      });
      try {
        return await Promise.race([loop(), late]);
      } finally {
        clearTimeout(timer);
      }
    };
    return { call };
  },
  selfCheck: async (subject) => {
    await retries(subject);
    await timesOut(subject);
  },
});
