import { fileURLToPath } from 'node:url';
import { median, spread } from '../stats.mjs';
import { openServer } from './line-client.mjs';

/**
 * @typedef {import('../stats.mjs').Spread} Spread
 * @typedef {{ oursUs: Spread, bareUs: Spread, ratio: Spread, noise: Spread }} CallCost p50 of a round trip
 */

const warmUpBlocks = 120;
const blocks = 120;
const blockCalls = 40;

/** @param {string} name */
const serverFile = (name) => fileURLToPath(new URL(`../../servers/${name}.mjs`, import.meta.url));

/**
 * @param {import('./line-client.mjs').Server} server
 * @param {number} calls
 * @returns {Promise<number[]>} microseconds
 */
const timeCalls = async (server, calls) => {
  const times = [];
  for (let call = 0; call < calls; call++) {
    const started = performance.now();
    await server.ask('tools/call', { name: 'echo', arguments: { text: `hello ${call}` } });
    times.push((performance.now() - started) * 1000);
  }
  return times;
};

/**
 * Throws unless the server works; it is not timed otherwise.
 *
 * @param {import('./line-client.mjs').Server} server
 * @param {(content: any) => unknown} dataOf
 */
const check = async (server, dataOf) => {
  const { result } = await server.ask('tools/call', { name: 'echo', arguments: { text: 'x' } });
  const echoed = JSON.stringify(dataOf(result.structuredContent));
  if (echoed !== '{"text":"x"}') throw new Error(`the echo answered ${echoed}`);
  if (result.content[0].text !== JSON.stringify(result.structuredContent))
    throw new Error('the text content differs from the structured content');
  const refused = await server.ask('tools/call', { name: 'echo', arguments: { text: 1 } });
  if (!refused.error && refused.result?.isError !== true)
    throw new Error('invalid arguments were accepted');
};

/**
 * @template T
 * @param {readonly T[]} all
 * @returns {T[]} in random order
 */
const shuffled = (all) => {
  const left = [...all];
  return all.map(
    () => /** @type {T} */ (left.splice(Math.floor(Math.random() * left.length), 1)[0]),
  );
};

/**
 * One round: new processes, and interleaved blocks of calls in random order, so that a slower machine affects all
 * servers. The bare SDK runs twice; the difference between the two is the noise.
 *
 * @param {string} node
 */
const round = async (node) => {
  const [ours, bare, again] = await Promise.all(
    ['toolkeel', 'bare-sdk', 'bare-sdk'].map((name) => openServer(node, [serverFile(name)])),
  );
  if (!ours || !bare || !again) throw new Error('a server is missing');
  try {
    await check(ours, (envelope) => envelope.data);
    for (const server of [bare, again]) await check(server, (content) => content);
    // Interleaved too, so that no server starts warmer than the others.
    for (let block = 0; block < warmUpBlocks; block++)
      for (const server of shuffled([ours, bare, again])) await timeCalls(server, blockCalls);
    const loggedBefore = ours.logged();
    const times = new Map(
      [ours, bare, again].map((server) => [server, /** @type {number[]} */ ([])]),
    );
    for (let block = 0; block < blocks; block++)
      for (const [server, all] of shuffled([...times]))
        all.push(...(await timeCalls(server, blockCalls)));
    // Log lines are written in batches, but every call has one.
    if (ours.logged() - loggedBefore < blocks * blockCalls * 100)
      throw new Error('the log of our server is disabled');
    const p50 = [ours, bare, again].map((server) => median(times.get(server) ?? []));
    const [oursUs = Number.NaN, bareUs = Number.NaN, againUs = Number.NaN] = p50;
    return { oursUs, bareUs, ratio: oursUs / bareUs, noise: againUs / bareUs };
  } finally {
    await Promise.all([ours, bare, again].map((server) => server.close()));
  }
};

/**
 * @param {string} node
 * @param {number} rounds
 * @param {(done: number) => void} onRound
 * @returns {Promise<CallCost>}
 */
export const measureCalls = async (node, rounds, onRound) => {
  const all = [];
  for (let done = 0; done < rounds; done++) {
    onRound(done);
    all.push(await round(node));
  }
  return {
    oursUs: spread(all.map(({ oursUs }) => oursUs)),
    bareUs: spread(all.map(({ bareUs }) => bareUs)),
    ratio: spread(all.map(({ ratio }) => ratio)),
    noise: spread(all.map(({ noise }) => noise)),
  };
};
