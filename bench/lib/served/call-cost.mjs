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
 * What is not shown to work is not timed.
 *
 * @param {import('./line-client.mjs').Server} server
 * @param {(content: any) => unknown} dataOf
 */
const check = async (server, dataOf) => {
  const { result } = await server.ask('tools/call', { name: 'echo', arguments: { text: 'x' } });
  const said = JSON.stringify(dataOf(result.structuredContent));
  if (said !== '{"text":"x"}') throw new Error(`the echo answered ${said}`);
  if (result.content[0].text !== JSON.stringify(result.structuredContent))
    throw new Error('the text is not the structured content');
  const refused = await server.ask('tools/call', { name: 'echo', arguments: { text: 1 } });
  if (!refused.error && refused.result?.isError !== true)
    throw new Error('wrong arguments were accepted');
};

/**
 * @template T
 * @param {readonly T[]} all
 * @returns {T[]} in an order left to chance, each as likely as any other
 */
const shuffled = (all) => {
  const left = [...all];
  return all.map(
    () => /** @type {T} */ (left.splice(Math.floor(Math.random() * left.length), 1)[0]),
  );
};

/**
 * One round: fresh processes, and blocks of calls that take turns in an order left to chance, so that a machine
 * that slows down for a while slows down all. The bare SDK runs twice; how the two differ is the noise.
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
    // In turns, too: who is warmed up last would else begin warmer than the others.
    for (let block = 0; block < warmUpBlocks; block++)
      for (const server of shuffled([ours, bare, again])) await timeCalls(server, blockCalls);
    const loggedBefore = ours.logged();
    const times = new Map(
      [ours, bare, again].map((server) => [server, /** @type {number[]} */ ([])]),
    );
    for (let block = 0; block < blocks; block++)
      for (const [server, all] of shuffled([...times]))
        all.push(...(await timeCalls(server, blockCalls)));
    // Lines are written in batches, but no call goes without one.
    if (ours.logged() - loggedBefore < blocks * blockCalls * 100)
      throw new Error('the log of our server is not on');
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
