import { loadConfig } from '@toolkeel/host';
import { afterEach, expect, it } from 'vitest';
import { upstreamSchema } from './config.js';
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
