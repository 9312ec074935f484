import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { newerNode } from '../../../scripts/lib/newer-node.mjs';
import { createRig, type Rig } from '../src/rig.fixture.js';

const require = createRequire(import.meta.url);
const suite = join(
  dirname(require.resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);
const fixture = fileURLToPath(
  new URL('../../host/dist/fixtures/conformance-server.fixture.js', import.meta.url),
);

const run = (args: readonly string[]): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    execFile(newerNode(), [suite, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error ? 1 : 0;
      resolve({ code, output: stdout + stderr });
    });
  });

const started: ChildProcess[] = [];
const rigs: Rig[] = [];
afterAll(async () => {
  for (const rig of rigs) await rig.close();
  for (const child of started) child.stdin?.end();
});

const httpUpstream = async (): Promise<string> => {
  const child = spawn(process.execPath, [fixture], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return `${line.toString().trim()}/mcp`;
};

const guarded = async (upstream: string): Promise<string> => {
  const config =
    upstream === 'stdio'
      ? { command: process.execPath, args: [fixture, 'stdio'] }
      : { url: await httpUpstream() };
  // The rules need no tool by name, but every mutation is decided by them and recorded.
  const rig = createRig({
    config,
    settings: { http: { port: 0 }, limits: { global: { perHour: 10_000 } } },
  });
  rigs.push(rig);
  const { url } = await rig.guard.listen();
  return `${url}/mcp`;
};

describe.each([
  { revision: '2025-11-25', scenarios: 30, upstream: 'stdio' },
  { revision: '2026-07-28', scenarios: 37, upstream: 'stdio' },
  { revision: '2025-11-25', scenarios: 30, upstream: 'HTTP' },
  { revision: '2026-07-28', scenarios: 37, upstream: 'HTTP' },
])('in front of a server on $upstream, revision $revision', ({ revision, scenarios, upstream }) => {
  it(`passes all ${scenarios} required scenarios`, { timeout: 180_000 }, async () => {
    const url = await guarded(upstream);
    const { output: list } = await run(['list', '--requirements', revision]);
    const [, section = ''] = /Server scenarios[^\n]*\n((?: {2}- [^\n]+\n)+)/.exec(list) ?? [];
    const names = [...section.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
    expect(names).toHaveLength(scenarios);
    const { code, output } = await run(['server', '--url', url, '--requirements', revision]);
    const passed = [...output.matchAll(/^✓ (\S+): (\d+) passed, 0 failed/gm)]
      .filter(([, , checks]) => Number(checks) > 0)
      .map(([, name = '']) => name);
    expect(names.filter((name) => !passed.includes(name))).toEqual([]);
    expect(code).toBe(0);
  });
});
