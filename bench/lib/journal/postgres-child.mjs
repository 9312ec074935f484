// One measurement in this process: `node postgres-child.mjs rate <url> <blocks>` or `load <url> <seconds>` writes one
// line of JSON.
import { openStore } from '../../../packages/journal/dist/index.js';
import { median } from '../stats.mjs';
import { openBarePostgres } from './bare-postgres.mjs';
import { mutate, registerOwner, request } from './work.mjs';

const [what, url = '', amount] = process.argv.slice(2);

const store = await openStore(url, { dataDir: '.' });
await registerOwner(store);
const ours = () => mutate(store);

/**
 * @param {() => Promise<unknown>} work
 * @param {number} inFlight
 * @param {number} times
 * @returns {Promise<number>} microseconds of wall time, for each repetition
 */
const wall = async (work, inFlight, times) => {
  const start = performance.now();
  let left = times;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return ((performance.now() - start) * 1000) / times;
};

const WARM_UP = 500;

/** Disk and scheduling dominate, so blocks of both alternate and other load affects both. */
const rate = async () => {
  const bare = await openBarePostgres(url);
  /** @type {Record<string, number>} */
  const result = {};
  for (const [name, inFlight, times] of /** @type {const} */ ([
    ['one', 1, 15],
    ['many', 32, 320],
  ])) {
    // Until both are compiled, and the server has planned their statements.
    await wall(bare.mutate, inFlight, WARM_UP);
    await wall(ours, inFlight, WARM_UP);
    const pairs = [];
    for (let block = 0; block < Number(amount); block++) {
      const bareUs = await wall(bare.mutate, inFlight, times);
      pairs.push({ bareUs, oursUs: await wall(ours, inFlight, times) });
    }
    result[`${name}Us`] = median(pairs.map(({ oursUs }) => oursUs));
    result[`${name}BareUs`] = median(pairs.map(({ bareUs }) => bareUs));
    result[`${name}Rate`] = median(pairs.map(({ oursUs, bareUs }) => bareUs / oursUs));
  }
  const id = await ours();
  const again = request(id.slice('op_'.length));
  result['replayUs'] = await wall(() => store.claim(again), 1, 100);
  await bare.close();
  return result;
};

const load = async () => {
  const end = performance.now() + Number(amount) * 1000;
  let operations = 0;
  const worker = async () => {
    for (; performance.now() < end; operations++) await ours();
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return { operations };
};

const result = await (what === 'load' ? load() : rate());
await store.close();
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
