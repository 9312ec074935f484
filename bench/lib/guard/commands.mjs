import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inRoot } from '../../../scripts/lib/paths.mjs';

/** @param {string} path */
const inBench = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The guarded server, and what stands in front of it. Every command starts the same server on stdio. */
const upstream = [
  inBench('node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
  'stdio',
];
const toolkeel = inRoot('packages', 'cli', 'dist', 'bin.js');

/** A rule that reads the argument of every call, so that the policy is evaluated; it never applies. */
const rule = {
  name: 'no secrets',
  when: { tool: 'echo', effect: 'read', 'args.message': { contains: 'a secret' } },
  action: 'deny',
};

/**
 * Configuration files in a folder of their own, with a durable journal.
 *
 * @param {string} node
 * @returns {{ reads: string, once: string, env: Record<string, string>, remove: () => void }}
 */
export const writeConfigs = (node) => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-bench-'));
  const everything = { command: node, args: upstream };
  const write = (/** @type {string} */ name, /** @type {unknown} */ config) => {
    const file = join(dir, name);
    writeFileSync(file, JSON.stringify(config));
    return file;
  };
  return {
    reads: write('reads.json', { rules: [rule], upstreams: { everything } }),
    once: write('once.json', {
      upstreams: { everything: { ...everything, tools: { echo: { effect: 'once' } } } },
    }),
    env: { TOOLKEEL_DATA_DIR: join(dir, 'data') },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
};

/**
 * The arguments of Node for each way to reach the server on stdio.
 *
 * @param {string} node
 * @param {ReturnType<typeof writeConfigs>} configs
 */
export const stdioCommands = (node, configs) => ({
  direct: upstream,
  guard: [toolkeel, 'guard', '--config', configs.reads],
  once: [toolkeel, 'guard', '--config', configs.once],
  'SDK proxy': [inBench('servers/sdk-proxy.mjs'), node, ...upstream],
});

/**
 * … and for each HTTP face, on a port.
 *
 * @param {string} node
 * @param {ReturnType<typeof writeConfigs>} configs
 * @returns {Record<'guard' | 'mcp-proxy' | 'supergateway', (port: number) => string[]>}
 */
export const httpCommands = (node, configs) => ({
  guard: (port) => {
    const face = ['--http', `127.0.0.1:${port}`];
    return [toolkeel, 'guard', '--config', configs.reads, ...face];
  },
  'mcp-proxy': (port) => {
    const face = ['--server', 'stream', '--host', '127.0.0.1', '--port', String(port)];
    return [inBench('node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs'), ...face, '--', node].concat(
      upstream,
    );
  },
  supergateway: (port) => {
    const face = ['--outputTransport', 'streamableHttp', '--stateful', '--port', String(port)];
    const server = ['--logLevel', 'none', '--stdio', [node, ...upstream].join(' ')];
    return [inBench('node_modules/supergateway/dist/index.js'), ...face, ...server];
  },
});
