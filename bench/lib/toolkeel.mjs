import {
  breaker,
  budget,
  compose,
  counters,
  deadline,
  FaultError,
  retry,
} from '../../packages/kernel/dist/index.js';
import { answers, expect, opensAndCloses, retries, timesOut } from './self-check.mjs';
import { settings } from './settings.mjs';

export * from '../../packages/kernel/dist/index.js';

/** The path of our package for the bundler, as seen from bench/. */
export const kernel = '../packages/kernel/dist/index.js';

/** What a hand-made composition understands without being told how to read errors. */
export const fault = () => new FaultError({ kind: 'network', sent: 'maybe' });

/** The five layers that the bars speak of. */
export const fiveLayers = () => ({
  retry: retry({ maxRetries: settings.retries, initialBackoffMs: settings.backoffMs }),
  deadline: deadline(settings.timeoutMs),
  breaker: breaker({
    failureShare: settings.failureShare,
    minimumAttempts: settings.minimumAttempts,
    windowMs: settings.windowMs,
    openAfterMs: 0,
    openMs: settings.openMs,
  }),
  budget: budget(),
  counters: counters(),
});

/**
 * @typedef {import('../../packages/kernel/dist/index.js').Layer} Layer
 * @typedef {import('../../packages/kernel/dist/index.js').Work<unknown, unknown>} Work
 * @typedef {import('../../packages/kernel/dist/index.js').Guarded<unknown, unknown> & (() => Promise<unknown>)} Callable
 */

/**
 * What is timed is the guarded function itself; it is called without an input.
 *
 * @param {readonly Layer[]} layers
 * @param {Work} work
 */
export const guardedBy = (layers, work) => ({
  call: /** @type {Callable} */ (compose(layers, { effect: 'read' }).wrap(work)),
});

/**
 * @param {Work} work
 * @param {readonly Layer[]} [more]
 */
export const composition = (work, more = []) => {
  const layers = fiveLayers();
  return { ...guardedBy([...Object.values(layers), ...more], work), layers };
};

/**
 * Everything that the composition is sold for, shown by the object that is timed next.
 *
 * @param {import('./case.mjs').Subject & { layers: ReturnType<typeof fiveLayers> }} subject
 */
export const checkComposition = async (subject) => {
  const { counters: counted, budget: tokens } = subject.layers;
  const full = tokens.tokens;
  await answers(subject);
  await retries(subject, fault);
  expect(tokens.tokens < full, 'its budget paid for no retry');
  await timesOut(subject);
  await opensAndCloses(subject, fault);
  expect(counted.retries >= settings.retries && counted.timeouts === 1, 'its counters are wrong');
};
