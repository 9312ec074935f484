import {
  breaker,
  budget,
  compose,
  counters,
  deadline,
  FaultError,
  observe,
  presets,
  retry,
  withResilience,
} from '../../packages/kernel/dist/index.js';
import { defineCase } from '../lib/case.mjs';
import { answers, expect, opensAndCloses, retries, timesOut } from '../lib/self-check.mjs';
import { settings } from '../lib/settings.mjs';

/**
 * @typedef {import('../lib/case.mjs').Subject} Subject
 * @typedef {import('../../packages/kernel/dist/index.js').Layer} Layer
 * @typedef {import('../../packages/kernel/dist/index.js').Work<unknown, unknown>} Work
 * @typedef {import('../../packages/kernel/dist/index.js').ResilientFunction<unknown, unknown> & (() => Promise<unknown>)} Callable
 */

/** The path of the kernel for the bundler, relative to bench/. */
const kernel = '../packages/kernel/dist/index.js';

/** A fault that a composition without a classifier recognises. */
const fault = () => new FaultError({ kind: 'network', sent: 'maybe' });

/** The five layers of the thresholds. */
const fiveLayers = () => ({
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
 * The resilient function itself is timed; it is called without an input.
 *
 * @param {readonly Layer[]} layers
 * @param {Work} work
 */
const composed = (layers, work) => ({
  call: /** @type {Callable} */ (compose(layers, { effect: 'read' }).wrap(work)),
});

/**
 * @param {Work} work
 * @param {readonly Layer[]} [more]
 */
const composition = (work, more = []) => {
  const layers = fiveLayers();
  return { ...composed([...Object.values(layers), ...more], work), layers };
};

/**
 * Checks every feature of the composition on the object that is timed next.
 *
 * @param {Subject & { layers: ReturnType<typeof fiveLayers> }} subject
 */
const checkComposition = async (subject) => {
  const { counters: counted, budget: tokens } = subject.layers;
  const full = tokens.tokens;
  await answers(subject);
  await retries(subject, fault);
  expect(tokens.tokens < full, 'its budget paid for no retry');
  await timesOut(subject);
  await opensAndCloses(subject, fault);
  expect(counted.retries >= settings.retries && counted.timeouts === 1, 'its counters are wrong');
};

/**
 * The first `count` layers of the composition.
 *
 * @param {number} count
 */
const firstLayers = (count) =>
  defineCase({
    name: Object.keys(fiveLayers()).slice(0, count).join(' + ') || 'no layer',
    make: ({ callee }) => composed(Object.values(fiveLayers()).slice(0, count), callee),
    selfCheck: async (/** @type {Subject} */ subject) => {
      await answers(subject);
      if (count >= 1) await retries(subject, fault);
      if (count >= 2) await timesOut(subject);
      if (count >= 3) await opensAndCloses(subject, fault);
    },
  });

const { stac } = presets;
/** The preset with shorter waits for the self-check. */
const stacPolicy = {
  ...stac,
  initialBackoffMs: settings.backoffMs,
  ...(stac.breaker && { breaker: { ...stac.breaker, openAfterMs: 0, openMs: settings.openMs } }),
};

export const cases = {
  composition: defineCase({
    name: 'retry + deadline + breaker + budget + counters',
    keeps: 'the resilient function, its pipeline and five layers',
    bundle: () =>
      `export { breaker, budget, compose, counters, deadline, retry } from '${kernel}';`,
    make: ({ callee }) => composition(callee),
    selfCheck: checkComposition,
  }),

  'signal-read': defineCase({
    name: '… the callee reads its signal',
    make: ({ callee }) => {
      let aborted = 0;
      return composition((_input, { signal }) => {
        if (signal.aborted) aborted += 1;
        return callee();
      });
    },
    selfCheck: checkComposition,
  }),

  'parent-signal': defineCase({
    name: '… the caller passes an AbortSignal',
    make: ({ callee }) => {
      const { call, layers } = composition(callee);
      const { signal } = new AbortController();
      return { call: () => call(undefined, { signal }), layers };
    },
    selfCheck: checkComposition,
  }),

  outcome: defineCase({
    name: '… called with .outcome(), which never throws',
    make: ({ callee }) => {
      const { call, layers } = composition(callee);
      const checked = async () => {
        const outcome = await call.outcome(undefined);
        if (outcome.ok) return outcome.value;
        throw new FaultError(outcome.fault);
      };
      return { call: () => call.outcome(undefined), checked, layers };
    },
    selfCheck: checkComposition,
  }),

  observer: defineCase({
    name: '… with an observer',
    make: ({ callee }) => {
      const seen = { calls: 0, openings: 0 };
      const observer = observe(({ type }) => {
        if (type === 'call_end') seen.calls += 1;
        else if (type === 'circuit_open') seen.openings += 1;
      });
      return { ...composition(callee, [observer]), seen };
    },
    selfCheck: async (subject) => {
      await checkComposition(subject);
      const { calls, openings } = subject.seen;
      expect(calls > 0 && openings === 1, 'its observer missed events');
    },
  }),

  'resilience-stac': defineCase({
    name: 'withResilience(fn, presets.stac)',
    keeps: 'the resilient function and its upstream state',
    bundle: () => `export { presets, withResilience } from '${kernel}';`,
    make: ({ callee }) => ({
      call: /** @type {Callable} */ (withResilience(callee, stacPolicy, { effect: 'read' })),
    }),
    selfCheck: async (subject) => {
      await answers(subject);
      await retries(subject);
      await timesOut(subject, () => subject.call(undefined, { timeoutMs: settings.timeoutMs }));
      await opensAndCloses(subject);
    },
  }),

  'layers-0': firstLayers(0),
  'layers-1': firstLayers(1),
  'layers-2': firstLayers(2),
  'layers-3': firstLayers(3),
  'layers-4': firstLayers(4),
};
