import { defineCase } from '../lib/case.mjs';
import { retries } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';

export default defineCase({
  name: '@smithy/util-retry, standard strategy (retry and budget)',
  keeps: 'the strategy',
  bundle: (packageFor) =>
    `export { StandardRetryStrategy } from '${packageFor('@smithy/util-retry')}';`,
  make: async ({ callee, packageFor }) => {
    const { StandardRetryStrategy } = await import(packageFor('@smithy/util-retry'));
    const strategy = new StandardRetryStrategy({
      maxAttempts: settings.retries + 1,
      baseDelay: settings.backoffMs,
    });
    /** The token protocol, as the SDK's own middleware speaks it. */
    const call = async () => {
      let token = await strategy.acquireInitialRetryToken('');
      for (;;) {
        try {
          const value = await callee();
          strategy.recordSuccess(token);
          return value;
        } catch (error) {
          const info = { errorType: 'TRANSIENT', error };
          token = await strategy.refreshRetryTokenForRetry(token, info);
        }
      }
    };
    return { call, keep: strategy };
  },
  selfCheck: (subject) => retries(subject),
});
