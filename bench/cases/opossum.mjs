import { defineCase } from '../lib/case.mjs';
import { opensAndCloses, timesOut } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';

export default defineCase({
  name: 'opossum: breaker with a timeout (it has no retry)',
  keeps: 'the breaker',
  bundle: (packageFor) => `export { default } from '${packageFor('opossum')}';`,
  make: async ({ callee, packageFor }) => {
    const { default: CircuitBreaker } = await import(packageFor('opossum'));
    const breaker = new CircuitBreaker(callee, {
      timeout: settings.timeoutMs,
      errorThresholdPercentage: settings.failureShare * 100,
      volumeThreshold: settings.minimumAttempts,
      rollingCountTimeout: settings.windowMs,
      resetTimeout: settings.openMs,
    });
    return { call: () => breaker.fire(), keep: breaker };
  },
  selfCheck: async (subject) => {
    await timesOut(subject);
    await opensAndCloses(subject);
  },
});
