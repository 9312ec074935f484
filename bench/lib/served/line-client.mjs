import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * @typedef {{ result?: any, error?: unknown }} Reply
 * @typedef {object} Server a server process with one request at a time
 * @property {(method: string, params?: unknown) => Promise<Reply>} ask
 * @property {() => number} logged bytes written to stderr
 * @property {() => Promise<void>} close
 */

const closeTimeoutMs = 5000;

/**
 * Starts a server and performs the MCP handshake. The client only writes and reads lines; the overhead of a real
 * client would be the same for every server.
 *
 * @param {string} node
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<Server>}
 */
export const openServer = async (node, args, { cwd, env } = {}) => {
  const { NODE_OPTIONS: _, ...own } = process.env; // must not affect the measurement
  const child = spawn(node, [...args], { cwd, env: { ...own, ...env }, stdio: 'pipe' });
  const ended = once(child, 'exit');
  let logged = 0;
  let unread = '';
  /** @type {((reply: Reply) => void) | undefined} */
  let waiting;
  /** @type {((reason: Error) => void) | undefined} */
  let fail;
  child.stderr.on('data', (chunk) => (logged += chunk.length));
  child.stdout.setEncoding('utf8').on('data', (text) => {
    unread += text;
    for (let end = unread.indexOf('\n'); end >= 0; end = unread.indexOf('\n')) {
      const line = unread.slice(0, end);
      unread = unread.slice(end + 1);
      // Ignores notifications.
      if (line.includes('"id"')) waiting?.(JSON.parse(line));
    }
  });
  child.on('exit', (code) => fail?.(new Error(`${args.join(' ')} exited with ${code}`)));
  child.stdin.on('error', () => {}); // the 'exit' event reports it

  let id = 0;
  /** @type {Server['ask']} */
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      waiting = resolve;
      fail = reject;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params })}\n`);
    });
  const close = async () => {
    fail = undefined;
    const timer = setTimeout(() => child.kill('SIGKILL'), closeTimeoutMs);
    child.stdin.end();
    await ended;
    clearTimeout(timer);
  };
  await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return { ask, logged: () => logged, close };
};
