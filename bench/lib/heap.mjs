import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {import('./case.mjs').Subject} Subject */

export const instances = 4000;

const used = async () => {
  await sleep(120); // until timers of earlier calls have expired
  for (let round = 0; round < 4; round++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external; // `external` includes array buffers
};

/**
 * Retained bytes of each used instance. The first half of the instances pays for shared state: compiled code,
 * shapes, the shared timer.
 *
 * @param {() => Subject | Promise<Subject>} make
 */
export const heapPerInstance = async (make) => {
  /** @type {unknown[]} */
  const kept = Array.from({ length: instances * 2 });
  const fill = async (/** @type {number} */ from) => {
    for (let i = from; i < from + instances; i++) {
      const { call, keep = call } = await make();
      await call();
      await call();
      kept[i] = keep;
    }
  };
  await fill(0);
  const before = await used();
  await fill(instances);
  const after = await used();
  if (kept.includes(undefined)) throw new Error('an instance is missing');
  return (after - before) / instances;
};
