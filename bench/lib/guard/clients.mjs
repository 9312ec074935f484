import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** @typedef {import('./load.mjs').Subject} Subject */

const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
};
const closeTimeoutMs = 10_000;

/**
 * @param {string} node
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 */
const start = (node, args, env) => {
  const { NODE_OPTIONS: _, ...own } = process.env; // must not affect the measurement
  const child = spawn(node, [...args], { env: { ...own, ...env }, stdio: 'pipe' });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr = (stderr + chunk).slice(-2000)));
  child.stdin.on('error', () => {}); // the 'exit' event reports it
  const ended = once(child, 'exit');
  const close = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), closeTimeoutMs);
    child.stdin.end();
    child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  };
  return { child, ended, close, stderr: () => stderr };
};

/** @param {string} text */
const echo = (text) => ({ name: 'echo', arguments: { message: text } });

/**
 * @param {any} reply
 * @param {string} text
 */
const check = ({ result, error }, text) => {
  if (!String(result?.content?.[0]?.text).includes(text))
    throw new Error(`the echo answered ${JSON.stringify(error ?? result)}`);
};

/**
 * A client on a pipe that only writes and reads lines: the overhead of a real client would be the same for all.
 *
 * @param {string} node
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 * @returns {Promise<Subject>}
 */
export const openStdio = async (node, args, env) => {
  const { child, ended, close, stderr } = start(node, args, env);
  /** @type {Map<number, (reply: any) => void>} */
  const waiting = new Map();
  let unread = '';
  let id = 0;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (unread + text).split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) {
      const reply = JSON.parse(line);
      const settle = waiting.get(reply.id);
      waiting.delete(reply.id);
      settle?.(reply);
    }
  });
  const ask = (/** @type {string} */ method, /** @type {unknown} */ params) =>
    new Promise((resolve) => {
      waiting.set((id += 1), resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  const failed = ended.then(() => {
    throw new Error(`${args.join(' ')} ended: ${stderr()}`);
  });
  failed.catch(() => {});
  await Promise.race([ask('initialize', initialize), failed]);
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const call = async (/** @type {string} */ text) =>
    check(await ask('tools/call', echo(text)), text);
  await Promise.race([call('probe'), failed]);
  return { call, pid: child.pid ?? 0, close };
};

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
};

/** @param {string} text a JSON body or an event stream with one answer */
const parse = (text) => {
  if (text.startsWith('{')) return JSON.parse(text);
  const data = text.split('\n').filter((line) => line.startsWith('data: {'));
  return data.map((line) => JSON.parse(line.slice(6))).find((frame) => 'id' in frame) ?? {};
};

/**
 * A session of revision 2025-11-25 over HTTP.
 *
 * @param {string} node
 * @param {(port: number) => readonly string[]} argsFor
 * @param {Record<string, string>} env
 * @param {number} connections
 * @returns {Promise<Subject>}
 */
export const openHttp = async (node, argsFor, env, connections) => {
  const port = await freePort();
  const args = argsFor(port);
  const { child, close, stderr } = start(node, args, env);
  child.stdout.resume();
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  /** @type {Record<string, string>} */
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  let id = 0;
  const post = async (/** @type {object} */ message) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const response = await pool.request({ method: 'POST', path: '/mcp', headers, body });
    const text = await response.body.text();
    if (response.statusCode >= 400) throw new Error(`HTTP ${response.statusCode}: ${text}`);
    return { text, session: response.headers['mcp-session-id'] };
  };
  const connect = async () => {
    for (let attempt = 0; ; attempt++)
      try {
        return await post({ id: (id += 1), method: 'initialize', params: initialize });
      } catch (cause) {
        if (attempt > 150 || child.exitCode !== null)
          throw new Error(`${args.join(' ')} did not start: ${stderr()}`, { cause });
        await sleep(100);
      }
  };
  const { session } = await connect();
  if (typeof session === 'string') headers['mcp-session-id'] = session;
  await post({ method: 'notifications/initialized' });
  const call = async (/** @type {string} */ text) => {
    const answered = await post({ id: (id += 1), method: 'tools/call', params: echo(text) });
    check(parse(answered.text), text);
  };
  await call('probe');
  const closeAll = async () => {
    await pool.destroy();
    await close();
  };
  return { call, pid: child.pid ?? 0, close: closeAll };
};
