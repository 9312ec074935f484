import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from './settings.mjs';

/**
 * What people write who need "just a retry".
 *
 * @param {import('./case.mjs').Call} callee
 * @returns {import('./case.mjs').Call}
 */
export const retryLoop = (callee) => async () => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await callee();
    } catch (error) {
      if (attempt >= settings.retries) throw error;
      await sleep(settings.backoffMs * 2 ** attempt);
    }
  }
};
