// What tests need: a ticket system, and a server with a minimal client on its stdin and stdout.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** @param {number} delayMs */
export const startBackend = async (delayMs = 0) => {
  const child = spawn(process.execPath, ['backend.js', String(delayMs)], {
    cwd: import.meta.dirname,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  /** @type {string[]} The titles of created tickets, from the log of the ticket system. */
  const created = [];
  const lines = createInterface(child.stdout);
  const [first] = await once(lines, 'line');
  lines.on('line', (line) => created.push(line.replace(/^created \w+ /, '')));
  const url = String(first).replace(/^.* at /, '');
  return { url, created, stop: () => child.kill() };
};

/**
 * @param {string} url of the ticket system
 * @param {string} dataDir
 * @param {readonly string[]} command
 */
export const startServer = async (url, dataDir, command = ['node', 'server.js']) => {
  const [file = '', ...rest] = command;
  const child = spawn(file, rest, {
    cwd: import.meta.dirname,
    env: {
      ...process.env,
      TICKETS_URL: url,
      TOOLKEEL_DATA_DIR: dataDir,
      TOOLKEEL_LOG_LEVEL: 'error',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {}); // it was killed
  const exited = once(child, 'exit');
  /** @type {Map<number, (result: any) => void>} */
  const waiting = new Map();
  createInterface(child.stdout).on('line', (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
  });
  let ids = 0;
  /** @param {string} method @param {object} params */
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = ++ids;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    /** Never settles if the server is killed. @param {string} name @param {object} args */
    call: (name, args) => request('tools/call', { name, arguments: args }),
    list: () => request('tools/list', {}),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
};
