import { median } from './stats.mjs';

/**
 * @typedef {typeof import('./loop.mjs').loop} Loop
 * @typedef {import('./case.mjs').Call} Call
 * @typedef {{ ratio: number, addedUs: number, bareNs: number }} Timing the CPU time of one call
 */

const batchMs = { bare: 8, call: 12 };
/** Slow calls get longer batches, so that a batch includes garbage collections. */
const minCalls = 500;
/** Effect is still being optimised after ten thousand calls. */
const warmUp = { calls: 20_000, ms: 100 };

/**
 * CPU time of the whole process, including the garbage collector's threads, so that other processes and
 * background collections do not distort the result.
 *
 * @param {Loop} loop
 * @param {Call} call
 * @param {number} calls
 */
const cpuMs = async (loop, call, calls) => {
  const before = process.cpuUsage();
  await loop(call, calls);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/**
 * Warms up a loop and returns the number of calls in a batch.
 *
 * @param {Loop} loop
 * @param {Call} call
 * @param {number} ms
 */
const warmUpLoop = async (loop, call, ms) => {
  const step = minCalls;
  let [calls, spentMs, lastMs] = [0, 0, 0];
  while (calls < warmUp.calls || spentMs < warmUp.ms) {
    lastMs = await cpuMs(loop, call, step);
    calls += step;
    spentMs += lastMs;
  }
  return Math.max(minCalls, Math.round((step * ms) / Math.max(0.001, lastMs)));
};

/**
 * @param {string} name
 * @returns {Promise<Loop>}
 */
const ownLoop = async (name) => {
  /** @type {typeof import('./loop.mjs')} */
  const { loop } = await import(`./loop.mjs?${name}`);
  return loop;
};

/**
 * Batches of the bare and the wrapped call alternate, and each is compared with its neighbour, so that a slower
 * machine affects both.
 *
 * @param {Call} bare
 * @param {Call} call
 * @param {number} batches
 * @returns {Promise<Timing>}
 */
export const time = async (bare, call, batches) => {
  const bareLoop = await ownLoop('bare');
  const callLoop = await ownLoop('call');
  const bareCalls = await warmUpLoop(bareLoop, bare, batchMs.bare);
  const callCalls = await warmUpLoop(callLoop, call, batchMs.call);
  const pairs = [];
  for (let batch = 0; batch < batches; batch++) {
    const bareNs = ((await cpuMs(bareLoop, bare, bareCalls)) * 1e6) / bareCalls;
    const callNs = ((await cpuMs(callLoop, call, callCalls)) * 1e6) / callCalls;
    pairs.push({ bareNs, callNs });
  }
  return {
    ratio: median(pairs.map(({ bareNs, callNs }) => callNs / bareNs)),
    addedUs: median(pairs.map(({ bareNs, callNs }) => (callNs - bareNs) / 1000)),
    bareNs: median(pairs.map(({ bareNs }) => bareNs)),
  };
};
