import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMultiRig, type Rig, type RigClient } from '../src/rig.fixture.js';
import { npmServers } from './support/npm-servers.js';

// Five servers of other authors in one guard.

let dir = '';
let rig: Omit<Rig, 'upstream'> | undefined;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'guard-five-')));
  mkdirSync(join(dir, 'files'));
  mkdirSync(join(dir, 'repo'));
  execFileSync('git', ['init', '--quiet'], { cwd: join(dir, 'repo') });
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  rmSync(dir, { recursive: true, force: true });
});

const open = (): Omit<Rig, 'upstream'> => {
  const server = (args: readonly string[]) => ({
    command: process.execPath,
    args: [...args],
    // A busy machine starts five servers slowly.
    startWaitSecs: 60,
  });
  return (rig = createMultiRig(
    {
      everything: server(npmServers.everything),
      files: server([...npmServers.filesystem, join(dir, 'files')]),
      memory: server(npmServers.memory),
      thinking: server(npmServers.thinking),
      git: server(npmServers.git),
    },
    {
      settings: { journal: { url: 'memory:' }, http: { port: 0 } },
      env: {
        PATH: process.env['PATH'],
        HOME: dir,
        TOOLKEEL_DATA_DIR: join(dir, 'data'),
        MEMORY_FILE_PATH: join(dir, 'memory.json'),
        MCP_LOG_LEVEL: 'error',
      },
    },
  ));
};

/** One read of each server, and what its result contains. */
const reads = () =>
  [
    ['everything_echo', { message: 'hi' }, 'Echo: hi'],
    ['files_list_directory', { path: join(dir, 'files') }, ''],
    ['memory_read_graph', {}, 'entities'],
    ['git_git_status', { path: join(dir, 'repo') }, 'currentBranch'],
    ['everything_get-sum', { a: 1, b: 2 }, '3'],
  ] as const;

interface Child {
  readonly child: { readonly pid: number };
}
const childPids = (): number[] => {
  const folder = join(dir, 'data', 'guard-children');
  return readdirSync(folder).map(
    (name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as Child).child.pid,
  );
};

it('one of five servers is killed at random, and all reads succeed', async () => {
  const client: RigClient = await open().client();
  const { result } = await client.ask('tools/list');
  const listed = result?.['tools'] as readonly { name: string }[] | undefined;
  const names = (listed ?? []).map(({ name }) => name);
  for (const prefix of ['everything_', 'files_', 'memory_', 'thinking_', 'git_']) {
    expect(names.filter((name) => name.startsWith(prefix)).length).toBeGreaterThan(0);
  }
  const pids = childPids();
  expect(pids).toHaveLength(5);
  const [victim = 0] = fc.sample(fc.constantFrom(...pids), 1);
  const calls = Array.from({ length: 6 }, () => reads()).flat();
  const answers = calls.map(([name, args]) => client.call(name, args));
  process.kill(victim, 'SIGKILL');
  for (const [index, message] of (await Promise.all(answers)).entries()) {
    const [name, , expected] = calls[index] ?? ['', {}, ''];
    expect([name, message.error, message.result?.['isError'] ?? false]).toEqual([
      name,
      undefined,
      false,
    ]);
    expect(JSON.stringify(message.result)).toContain(expected);
  }
  // Those that live were not started again.
  await expect.poll(() => childPids().filter((pid) => pids.includes(pid))).toHaveLength(4);
  await expect.poll(() => childPids()).toHaveLength(5);
});

it('five servers are one server for an SDK client over HTTP', async () => {
  const { url } = await open().guard.listen();
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {}, resources: {} });
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(60);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain('everything_simple-prompt');
  const entities = [{ name: 'e', entityType: 't', observations: ['o'] }];
  await client.callTool({ name: 'memory_create_entities', arguments: { entities } });
  const read = await client.readResource({ uri: 'memory://knowledge-graph' });
  expect(JSON.stringify(read)).toContain('entityType');
  const progress: number[] = [];
  await client.callTool(
    { name: 'everything_trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
    undefined,
    { onprogress: (one) => void progress.push(one.progress) },
  );
  expect(progress).toEqual([1, 2]);
  await client.close();
});
