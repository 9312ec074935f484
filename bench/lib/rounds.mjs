import { measure } from './child-process.mjs';
import { spread } from './stats.mjs';

/**
 * @typedef {import('./nodes.mjs').Runtime} Runtime
 * @typedef {import('./packages.mjs').Line} Line
 * @typedef {import('./stats.mjs').Spread} Spread
 * @typedef {{ ratio: Spread, addedUs: Spread, bareNs: Spread }} Cost
 * @typedef {{ round: number, runtime: Runtime, id: string }} Step
 */

/**
 * @template T
 * @typedef {Partial<Record<Line, Record<string, T>>>} ByLine results by Node line and case
 */

/**
 * All steps of all rounds, in random order within a round, so that a change in machine speed does not always
 * affect the same case.
 *
 * @param {readonly Runtime[]} runtimes
 * @param {readonly string[]} ids
 * @param {(line: Line, id: string) => number} roundsOf
 * @returns {Step[]}
 */
export const planRounds = (runtimes, ids, roundsOf) => {
  const all = runtimes.flatMap((runtime) => ids.map((id) => ({ runtime, id })));
  const last = Math.max(0, ...all.map(({ runtime, id }) => roundsOf(runtime.line, id)));
  return Array.from({ length: last }, (_, round) =>
    shuffled(
      all
        .filter(({ runtime, id }) => round < roundsOf(runtime.line, id))
        .map((step) => ({ round, ...step })),
    ),
  ).flat();
};

/**
 * @template T
 * @param {readonly T[]} items
 */
const shuffled = (items) =>
  items
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);

/**
 * @param {readonly Step[]} steps
 * @param {number} batches
 * @param {(step: Step, done: number) => void} onStep
 * @returns {Promise<ByLine<Cost>>}
 */
export const timeAll = async (steps, batches, onStep) => {
  /** @type {(Step & import('./time.mjs').Timing)[]} */
  const timings = [];
  for (const step of steps) {
    onStep(step, timings.length);
    timings.push({ ...step, ...(await measure({ what: 'time', ...step, batches })) });
  }
  return byLine(timings, (samples) => ({
    ratio: spread(samples.map(({ ratio }) => ratio)),
    addedUs: spread(samples.map(({ addedUs }) => addedUs)),
    bareNs: spread(samples.map(({ bareNs }) => bareNs)),
  }));
};

/**
 * @param {readonly Step[]} steps
 * @param {(step: Step, done: number) => void} onStep
 * @returns {Promise<ByLine<Spread>>}
 */
export const weighAll = async (steps, onStep) => {
  /** @type {(Step & { bytes: number })[]} */
  const weights = [];
  for (const step of steps) {
    onStep(step, weights.length);
    weights.push({ ...step, ...(await measure({ what: 'heap', ...step, batches: 0 })) });
  }
  return byLine(weights, (samples) => spread(samples.map(({ bytes }) => bytes)));
};

/**
 * @template {Step} S
 * @template R
 * @param {readonly S[]} samples
 * @param {(samples: S[]) => R} summarise
 * @returns {ByLine<R>}
 */
const byLine = (samples, summarise) => {
  /** @type {ByLine<R>} */
  const results = {};
  for (const { runtime, id } of samples) {
    const ofCase = (results[runtime.line] ??= {});
    ofCase[id] ??= summarise(
      samples.filter((sample) => sample.id === id && sample.runtime.line === runtime.line),
    );
  }
  return results;
};
