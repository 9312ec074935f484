// One measurement in this process: `node child.mjs sqlite|memory <blocks>` writes one line of JSON.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, openStore } from '../../../packages/journal/dist/index.js';
import { median } from '../stats.mjs';
import { openBare } from './bare.mjs';
import { registerOwner, mutate, request } from './work.mjs';

const [what, blocks] = process.argv.slice(2);

/**
 * @param {() => Promise<unknown>} work
 * @returns {Promise<number>} microseconds of wall time
 */
const wall = async (work) => {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1000;
};

/**
 * @param {() => Promise<unknown>} work
 * @param {number} times
 * @returns {Promise<number>} microseconds of CPU time of all threads, for each repetition
 */
const cpu = async (work, times) => {
  const start = process.cpuUsage();
  for (let i = 0; i < times; i++) await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / times;
};

/**
 * Disk time dominates, so the two alternate call by call and other load affects both. Before that both run until
 * their first WAL checkpoint: a growing log costs more, and only in the first minutes of a server.
 */
const sqlite = async () => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-bench-'));
  const store = await openStore('sqlite:journal.db', { dataDir: dir });
  const bare = await openBare(join(dir, 'bare.db'));
  await registerOwner(store);
  const ours = () => mutate(store);
  for (let i = 0; i < 300; i++) {
    await bare.mutate();
    await ours();
  }
  const pairs = [];
  for (let block = 0; block < Number(blocks); block++) {
    const pair = { bareUs: 0, oursUs: 0 };
    for (let i = 0; i < 10; i++) {
      pair.bareUs += (await wall(bare.mutate)) / 10;
      pair.oursUs += (await wall(ours)) / 10;
    }
    pairs.push(pair);
  }

  // A replay of a settled operation writes nothing.
  const id = await mutate(store);
  const again = request(id.slice('op_'.length));
  const replays = [];
  for (let i = 0; i < 500; i++) {
    const start = performance.now();
    const { kind, operation } = await store.claim(again);
    replays.push((performance.now() - start) * 1000);
    if (kind !== 'held' || operation.state !== 'succeeded')
      throw new Error('the operation was not replayed');
  }
  await store.close();
  bare.close();
  rmSync(dir, { recursive: true });
  return {
    oursUs: median(pairs.map(({ oursUs }) => oursUs)),
    bareUs: median(pairs.map(({ bareUs }) => bareUs)),
    rate: median(pairs.map(({ oursUs, bareUs }) => bareUs / oursUs)),
    replayUs: median(replays),
  };
};

const memory = async () => {
  // A hundred calls a second, each dedup key held for half a minute.
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  await registerOwner(store, 365 * 24 * 3_600_000);
  const work = () => {
    now += 10;
    return mutate(store);
  };
  // Until the JIT compilers are done.
  await cpu(work, 60_000);
  const isUndisturbed = await calibrate();
  const all = [];
  const undisturbed = [];
  while (undisturbed.length < Number(blocks) && all.length < MAX_BLOCKS) {
    const each = await cpu(work, 1000);
    all.push(each);
    if (await isUndisturbed()) undisturbed.push(each);
  }
  // The median excludes most blocks with a garbage collection.
  return { memoryUs: median(undisturbed.length < Number(blocks) ? all : undisturbed) };
};

const MAX_BLOCKS = 600;

/**
 * On a shared core the cost of everything may double for short periods. A small constant workload detects
 * them.
 *
 * @returns {Promise<() => Promise<boolean>>} whether the machine currently runs at about full speed
 */
const calibrate = async () => {
  const kept = new Map();
  let made = 0;
  const step = async () => {
    kept.set(`key-${++made}`, { made });
    kept.delete(`key-${made - 500}`);
  };
  const measure = () => cpu(step, 2000);
  await cpu(step, 60_000);
  let best = Infinity;
  for (let i = 0; i < 200; i++) best = Math.min(best, await measure());
  return async () => {
    const now = await measure();
    best = Math.min(best, now);
    return now < best * 1.2;
  };
};

const result = await (what === 'memory' ? memory() : sqlite());
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
