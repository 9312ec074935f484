import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { conformance } from '../../../scripts/lib/conformance.mjs';
import { cleanUp } from './support/chaos.js';
import { listenGuard } from './support/guarded.js';
import { npmServers } from './support/npm-servers.js';

const require = createRequire(import.meta.url);
const run = conformance(
  join(dirname(require.resolve('@modelcontextprotocol/conformance/package.json')), 'dist/index.js'),
);
const fixture = fileURLToPath(
  new URL('../../host/dist/fixtures/conformance-server.fixture.js', import.meta.url),
);

const started: ChildProcess[] = [];

afterAll(() => {
  for (const child of started) child.stdin?.end();
  cleanUp();
});

const upstreams = {
  stdio: () => Promise.resolve({ command: process.execPath, args: [fixture, 'stdio'] }),
  HTTP: async () => {
    const child = spawn(process.execPath, [fixture], { stdio: ['pipe', 'pipe', 'inherit'] });
    started.push(child);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return { url: `${line.toString().trim()}/mcp` };
  },
};

/** Every call is evaluated by a rule and counted by a limit, and recorded in a durable journal unless it is a read. */
const config = {
  rules: [{ name: 'others', when: { tool: '*', account: 'another' }, action: 'deny' }],
  limits: { all: { perHour: 100_000 } },
};

/** Features that change what a client sees, where they have nothing to change. Reads are quick without them. */
const features = {
  pin: 'block',
  maxResultBytes: 1_000_000,
  exclude: ['no_such_tool'],
  maxDescriptionChars: 10_000,
  errors: [{ match: 'no such error', fault: 'unavailable' }],
};

describe.each([
  { upstream: 'stdio', revision: '2025-11-25', scenarios: 30 },
  { upstream: 'stdio', revision: '2026-07-28', scenarios: 37 },
  { upstream: 'HTTP', revision: '2025-11-25', scenarios: 30 },
  { upstream: 'HTTP', revision: '2026-07-28', scenarios: 37 },
] as const)('through the guard, the server on $upstream', ({ upstream, revision, scenarios }) => {
  it(
    `passes all ${scenarios} required scenarios of ${revision}`,
    // Some scenarios give a call 500 ms, which a busy machine may exceed.
    { timeout: 180_000, retry: 1 },
    async () => {
      const server = { ...(await upstreams[upstream]()), ...(upstream === 'stdio' && features) };
      const guard = await listenGuard({ upstream: server, config });
      const { required, failed, code } = await run(guard.url, revision);
      expect(required).toHaveLength(scenarios);
      expect(failed).toEqual([]);
      expect(code).toBe(0);
      await guard.stop();
    },
  );
});

describe('through a guard with a second server', () => {
  it.each([
    { revision: '2025-11-25', scenarios: 30 },
    { revision: '2026-07-28', scenarios: 37 },
  ] as const)(
    'passes all $scenarios required scenarios of $revision',
    { timeout: 180_000, retry: 1 },
    async ({ revision, scenarios }) => {
      const guard = await listenGuard({
        upstream: { ...(await upstreams.stdio()), prefix: '', startWaitSecs: 60 },
        // A server of an earlier revision.
        others: {
          thinking: {
            command: process.execPath,
            args: [...npmServers.thinking],
            bridge: 'all',
            startWaitSecs: 60,
          },
        },
        config,
      });
      const { required, failed } = await run(guard.url, revision);
      expect(required).toHaveLength(scenarios);
      expect(failed).toEqual([]);
      await guard.stop();
    },
  );
});
