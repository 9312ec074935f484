import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@toolkeel/host';
import { afterEach, expect, it } from 'vitest';
import { upstreamSchema } from './config.js';
import { createGuard } from './guard.js';
import { inspectUpstream } from './inspect.js';
import {
  createMultiRig,
  fakeUpstream,
  readTool,
  text,
  writeTool,
  type FakeUpstream,
  type Rig,
} from './rig.fixture.js';

let rig: Omit<Rig, 'upstream'> | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
const open = (...given: Parameters<typeof createMultiRig>): Omit<Rig, 'upstream'> =>
  (rig = createMultiRig(...given));

it('redacts headers and credentials in addresses, also where they are in plain text', async () => {
  const secrets = ['hdr-12345', 'xfoo-77', 'tok-in-url', 'pw-of-db'];
  const { client } = open(
    {
      a: { fake: fakeUpstream({ onCall: () => text(`${secrets.join(' ')} plain`) }) },
      r: {
        url: 'http://127.0.0.1:1/mcp?token=tok-in-url',
        headers: { Authorization: 'Bearer hdr-12345', 'X-Foo': 'xfoo-77' },
        startWaitSecs: 0,
      },
    },
    { env: { DB_URL: 'postgres://me:pw-of-db@127.0.0.1/db' } },
  );
  const { result } = await (await client()).call('a_get');
  const shown = JSON.stringify(result);
  expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
  expect(shown).toContain('plain');
});

it('reports settings that name no tool, and names that a prefix makes too long', async () => {
  const long = { ...readTool, name: 'x'.repeat(63) };
  const fake = fakeUpstream({ tools: [readTool, writeTool, long] });
  const config = { exclude: ['a_add', 'add'], tools: { 'get*': {}, none: { effect: 'read' } } };
  const { client, logs } = open({ a: { fake, ...config }, b: { fake: fakeUpstream() } });
  await (await client()).ask('tools/list');
  await expect
    .poll(logs)
    .toContainEqual(
      expect.objectContaining({ event: 'guard_setting_unused', names: ['a_add', 'none'] }),
    );
  expect(logs()).toContainEqual(
    expect.objectContaining({ event: 'guard_name_too_long', names: [`a_${long.name}`] }),
  );
});

it('reports templates and read-backs that name what a tool or the server does not have', async () => {
  const properties = { title: { type: 'string' }, body: { type: 'string' } };
  const add = { ...writeTool, inputSchema: { type: 'object', properties } };
  const reconcile = { tool: 'gett', arguments: { q: '{titel}' }, match: { body: '{body}' } };
  const tools = { add: { key: 'add:{titel}', idempotencyArgument: 'request_id', reconcile } };
  const { client, logs } = open({
    a: { fake: fakeUpstream({ tools: [readTool, add] }), tools },
    b: { fake: fakeUpstream(), tools: { add: { key: 'any:{of}' } } },
  });
  await (await client()).ask('tools/list');
  await expect.poll(logs).toContainEqual(
    expect.objectContaining({
      event: 'guard_setting_unused',
      upstream: 'a',
      names: [
        'add has no argument titel. Did you mean "title"?',
        'add has no argument request_id.',
        'add cannot be reconciled with gett, which is not listed. Did you mean "get"?',
      ],
    }),
  );
  // A schema without properties does not say which arguments there are.
  expect(logs()).not.toContainEqual(
    expect.objectContaining({ event: 'guard_setting_unused', upstream: 'b' }),
  );
});

it.each(['constant', 'add:{title', 'add:title}', '{}', 'add:{{title}}'])(
  'refuses a key template that names no argument: %s',
  (key) => {
    const parsed = upstreamSchema.safeParse({ command: 'x', tools: { add: { key } } });
    expect(parsed.error?.issues).toMatchObject([{ path: ['tools', 'add', 'key'] }]);
  },
);

it('refuses time limits that do not fit those of the preset, with the path of the setting', () => {
  const config = upstreamSchema.parse({ command: 'x', policy: { callTimeoutMs: 2000 } });
  const loaded = loadConfig({ env: {}, cwd: '/nonexistent', settings: {} });
  expect(() => createGuard({ loaded, name: 'a', config, log: () => {} })).toThrow(
    /\/upstreams\/a\/policy: .*TimeoutMs/,
  );
});

it('keeps no secret in the pins, also if it was pinned before it was known', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'toolkeel-pins-'));
  try {
    const tools = [{ ...readTool, description: 'Uses ghp_pat-12345 here.' }];
    const run = async (env: NodeJS.ProcessEnv) => {
      const settings = { dataDir, journal: { url: 'sqlite:journal.db' } };
      rig = createMultiRig({ a: { fake: fakeUpstream({ tools }) } }, { settings, env });
      const { client, logs, close } = rig;
      await (await client()).ask('tools/list');
      await expect.poll(logs).toContainEqual(expect.objectContaining({ event: 'guard_effects' }));
      await close();
      return {
        text: readFileSync(join(dataDir, 'guard-pins/a.json'), 'utf8'),
        events: logs().map(({ event }) => event),
      };
    };
    expect((await run({})).text).toContain('ghp_pat-12345');
    const known = await run({ GITHUB_PAT: 'ghp_pat-12345' });
    expect(known.text).toContain('Uses [redacted] here.');
    expect(known.events).not.toContain('guard_tools_changed');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('knows a server of revision 2026-07-28, and its profile', async () => {
  const fake = fakeUpstream({
    tools: [{ name: 'gzip-file-as-resource', inputSchema: { type: 'object' } }],
    onRequest: ({ method }) =>
      method === 'server/discover'
        ? {
            supportedVersions: ['2026-07-28'],
            capabilities: { tools: {} },
            _meta: {
              'io.modelcontextprotocol/serverInfo': {
                name: 'mcp-servers/everything',
                version: '2.0.0',
              },
            },
          }
        : undefined,
  });
  const { connect, guard } = open({ a: { fake } });
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const client = connect();
  await client.ask('server/discover', { _meta });
  await client.session.toolsListed();
  expect(guard.tools[0]?.decision.effect).toBe('idempotent');
});

it('does not take the echo of a request for an answer when a server is inspected', async () => {
  const echo: FakeUpstream = fakeUpstream({
    onRequest: (message) => {
      echo.send(message);
      return 'silent';
    },
  });
  const loaded = loadConfig({ env: {}, cwd: '/nonexistent', settings: {} });
  const config = upstreamSchema.parse({ command: 'unused' });
  const inspected = inspectUpstream({ loaded, name: 'cat', config, connect: echo.connect }, 20);
  await expect(inspected).rejects.toThrow('did not answer initialize in time');
});

it('tells what a server wrote that could not be inspected, without secrets', async () => {
  const loaded = loadConfig({ env: {}, cwd: '/nonexistent', settings: {} });
  const script = `console.error('My server 1.0'); console.error('Error: ' + process.env.MY_API_KEY + ' is missing'); process.exit(3)`;
  const config = upstreamSchema.parse({
    command: process.execPath,
    args: ['-e', script],
    env: { MY_API_KEY: { env: 'KEY' } },
  });
  const env = { KEY: 'secret-of-mine-1234' };
  const inspected = inspectUpstream({ loaded, name: 'broken', config, env });
  const told = await inspected.catch((cause: unknown) => String(cause));
  expect(told).toContain('exited with code 3. It wrote: Error: ');
  expect(told).toMatch(/ is missing$/);
  expect(told).not.toContain(env.KEY);
});
