import { setTimeout as sleep } from 'node:timers/promises';
import { defineCase } from '../lib/case.mjs';
import { opensAndCloses, retries, timesOut } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';

/**
 * @typedef {import('../lib/case.mjs').Call} Call
 * @typedef {import('../lib/case.mjs').Subject} Subject
 */

/** @param {Subject} subject */
const retriesAndTimesOut = async (subject) => {
  await retries(subject);
  await timesOut(subject);
};

/**
 * Cockatiel's wrap as documented. The timeout is the aggressive one: a cooperative timeout costs the same, but
 * leaves the caller waiting for a callee that ignores its signal.
 *
 * @param {import('../lib/case.mjs').Context} context
 * @param {{ abortOnReturn?: boolean }} [more]
 * @returns {Promise<Subject>}
 */
const cockatielWrap = async ({ callee, packageFor }, more = {}) => {
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

/** @param {Subject} subject */
const checkCockatiel = async (subject) => {
  await retriesAndTimesOut(subject);
  await opensAndCloses(subject);
};

/**
 * A minimal retry loop.
 *
 * @param {Call} callee
 * @returns {Call}
 */
const retryLoop = (callee) => async () => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await callee();
    } catch (error) {
      if (attempt >= settings.retries) throw error;
      await sleep(settings.backoffMs * 2 ** attempt);
    }
  }
};

export const cases = {
  cockatiel: defineCase({
    name: 'cockatiel wrap(retry, breaker, timeout)',
    keeps: 'the wrapped policy',
    bundle: (packageFor) => `
      export {
        circuitBreaker, ExponentialBackoff, handleAll, retry, SamplingBreaker, timeout, TimeoutStrategy, wrap,
      } from '${packageFor('cockatiel')}';`,
    make: (context) => cockatielWrap(context),
    selfCheck: checkCockatiel,
  }),

  'cockatiel-no-abort': defineCase({
    name: 'cockatiel wrap, with abortOnReturn: false',
    make: (context) => cockatielWrap(context, { abortOnReturn: false }),
    selfCheck: checkCockatiel,
  }),

  opossum: defineCase({
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
  }),

  'p-retry': defineCase({
    name: 'p-retry (retry only)',
    bundle: (packageFor) => `export { default } from '${packageFor('p-retry')}';`,
    make: async ({ callee, packageFor }) => {
      const { default: pRetry } = await import(packageFor('p-retry'));
      const options = { retries: settings.retries, minTimeout: settings.backoffMs };
      return { call: () => pRetry(callee, options) };
    },
    selfCheck: (subject) => retries(subject),
  }),

  effect: defineCase({
    name: 'Effect retry + timeout',
    keeps: 'the program passed to runPromise',
    bundle: (packageFor) => `
      import { Effect, Schedule } from '${packageFor('effect')}';
      const { retry, runPromise, timeout, tryPromise } = Effect;
      const { exponential } = Schedule;
      export { exponential, retry, runPromise, timeout, tryPromise };`,
    make: async ({ callee, packageFor }) => {
      const { Effect, Schedule } = await import(packageFor('effect'));
      const schedule = Schedule.exponential(settings.backoffMs);
      const program = Effect.tryPromise(() => callee()).pipe(
        Effect.retry({ times: settings.retries, schedule }),
        Effect.timeout(settings.timeoutMs),
      );
      return { call: () => Effect.runPromise(program), keep: program };
    },
    selfCheck: retriesAndTimesOut,
  }),

  smithy: defineCase({
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
      /** The token protocol of the SDK's own middleware. */
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
  }),

  'hand-loop': defineCase({
    name: 'a hand-written loop (retry only)',
    keeps: 'a closure',
    make: ({ callee }) => ({ call: retryLoop(callee) }),
    selfCheck: (subject) => retries(subject),
  }),

  'hand-loop-timeout': defineCase({
    name: 'a hand-written loop, raced against a timer',
    make: ({ callee }) => {
      const loop = retryLoop(callee);
      const call = async () => {
        /** @type {NodeJS.Timeout | undefined} */
        let timer;
        const late = new Promise((_, reject) => {
          timer = setTimeout(() => reject(new Error('timed out')), settings.timeoutMs);
        });
        try {
          return await Promise.race([loop(), late]);
        } finally {
          clearTimeout(timer);
        }
      };
      return { call };
    },
    selfCheck: retriesAndTimesOut,
  }),
};
