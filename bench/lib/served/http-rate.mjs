import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { spread } from '../stats.mjs';

/**
 * @typedef {import('../stats.mjs').Spread} Spread
 * @typedef {{ ours: Spread, bare: Spread, plain: Spread, ratio: Spread }} HttpRate calls a second
 */

const inFlight = 16;
const warmUpCalls = 3000;
const blocks = 6;
const blockCalls = 1500;

const prefix = 'io.modelcontextprotocol';
const claim = {
  [`${prefix}/protocolVersion`]: '2026-07-28',
  [`${prefix}/clientCapabilities`]: {},
  [`${prefix}/clientInfo`]: { name: 'bench', version: '1.0.0' },
};
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
};

/** @param {unknown} text */
const bodyOf = (text) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text }, _meta: claim },
  });

/**
 * Starts a server that prints its URL.
 *
 * @param {string} node
 * @param {string} name
 */
const open = async (node, name) => {
  const { NODE_OPTIONS: _, ...env } = process.env; // must not affect the measurement
  const file = fileURLToPath(new URL(`../../servers/${name}.mjs`, import.meta.url));
  const child = spawn(node, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.resume();
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${name} did not start`);
  });
  failed.catch(() => {}); // once it has started, requests fail instead
  const started = once(createInterface({ input: child.stdout }), 'line');
  const [line] = await Promise.race([started, failed]);
  const url = new URL(line);
  const pool = new Pool(url.origin, { connections: inFlight });
  /** @param {string} body */
  const post = async (body) => {
    const response = await pool.request({ method: 'POST', path: url.pathname, headers, body });
    return { status: response.statusCode, text: await response.body.text() };
  };
  return {
    post,
    close: async () => {
      await pool.close();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};

/** @typedef {Awaited<ReturnType<typeof open>>} Server */

/**
 * Throws unless the server works; it is not timed otherwise.
 *
 * @param {Server} server
 */
const check = async ({ post }) => {
  const { status, text } = await post(bodyOf('x'));
  const { result } = JSON.parse(text);
  const { text: echoed } = result.structuredContent.data ?? result.structuredContent;
  if (status !== 200 || echoed !== 'x') throw new Error(`the echo answered ${status} ${text}`);
  const refused = JSON.parse((await post(bodyOf(1))).text);
  if (!refused.error && refused.result?.isError !== true)
    throw new Error('invalid arguments were accepted');
};

/**
 * @param {Server} server
 * @param {number} calls
 * @returns {Promise<number>} calls a second
 */
const timeCalls = async ({ post }, calls) => {
  let next = 0;
  const worker = async () => {
    while (next < calls) await post(bodyOf(`hello ${next++}`));
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (calls / (performance.now() - started)) * 1000;
};

/** @param {string} node */
const round = async (node) => {
  const names = ['toolkeel-http', 'bare-sdk-http', 'hono-http'];
  const servers = await Promise.all(names.map((name) => open(node, name)));
  try {
    for (const server of servers) await check(server);
    for (const server of servers) await timeCalls(server, warmUpCalls);
    const rates = servers.map(() => /** @type {number[]} */ ([]));
    for (let block = 0; block < blocks; block++)
      for (const [index, server] of servers.entries())
        rates[index]?.push(await timeCalls(server, blockCalls));
    const [ours = Number.NaN, bare = Number.NaN, plain = Number.NaN] = rates.map(
      (all) => spread(all).median,
    );
    return { ours, bare, plain, ratio: ours / bare };
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
};

/**
 * @param {string} node
 * @param {number} rounds
 * @param {(done: number) => void} onRound
 * @returns {Promise<HttpRate>}
 */
export const measureHttp = async (node, rounds, onRound) => {
  const all = [];
  for (let done = 0; done < rounds; done++) {
    onRound(done);
    all.push(await round(node));
  }
  return {
    ours: spread(all.map(({ ours }) => ours)),
    bare: spread(all.map(({ bare }) => bare)),
    plain: spread(all.map(({ plain }) => plain)),
    ratio: spread(all.map(({ ratio }) => ratio)),
  };
};
