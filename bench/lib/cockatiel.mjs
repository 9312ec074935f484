import { opensAndCloses, retries, timesOut } from './self-check.mjs';
import { settings } from './settings.mjs';

/**
 * Cockatiel's wrap as its manual builds it. The timeout is the aggressive one: the other kind leaves a caller
 * waiting for a callee that looks at no signal, and costs the same.
 *
 * @param {import('./case.mjs').Context} context
 * @param {{ abortOnReturn?: boolean }} [more]
 * @returns {Promise<import('./case.mjs').Subject>}
 */
export const cockatielWrap = async ({ callee, packageFor }, more = {}) => {
  const cockatiel = await import(packageFor('cockatiel'));
  const { circuitBreaker, ExponentialBackoff, handleAll, retry, SamplingBreaker } = cockatiel;
  const { timeout, TimeoutStrategy, wrap } = cockatiel;
  const policy = wrap(
    retry(handleAll, {
      maxAttempts: settings.retries,
      backoff: new ExponentialBackoff({ initialDelay: settings.backoffMs }),
    }),
    circuitBreaker(handleAll, {
      halfOpenAfter: settings.openMs,
      breaker: new SamplingBreaker({
        threshold: settings.failureShare,
        duration: settings.windowMs,
        minimumRps: settings.minimumAttempts / (settings.windowMs / 1000),
      }),
    }),
    timeout(settings.timeoutMs, { strategy: TimeoutStrategy.Aggressive, ...more }),
  );
  return { call: () => policy.execute(callee), keep: policy };
};

/** @param {import('./case.mjs').Subject} subject */
export const checkCockatiel = async (subject) => {
  await retries(subject);
  await timesOut(subject);
  await opensAndCloses(subject);
};
