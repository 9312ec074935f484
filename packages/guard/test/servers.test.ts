import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../src/frame.js';
import { createRig, type Rig } from '../src/rig.fixture.js';
import { npmServers, type NpmServer } from './support/npm-servers.js';

let dir = '';
let rig: Rig | undefined;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'guard-')));
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  rmSync(dir, { recursive: true, force: true });
});

const open = (name: NpmServer, args: readonly string[] = [], more: object = {}): Rig =>
  (rig = createRig({
    config: { command: process.execPath, args: [...npmServers[name], ...args], ...more },
    settings: { journal: { url: 'memory:' }, http: { port: 0 } },
    env: { TOOLKEEL_DATA_DIR: join(dir, 'data'), MEMORY_FILE_PATH: join(dir, 'memory.json') },
  }));
const textOf = ({ result }: Message): unknown =>
  (result?.['content'] as readonly { text: string }[] | undefined)?.at(-1)?.text;

describe('server-everything', () => {
  it('keeps its tools, resources, prompts, progress and completions', async () => {
    const one = await open('everything').client();
    const { result } = await one.ask('tools/list');
    expect(result?.['tools']).toHaveLength(13);
    expect(textOf(await one.call('echo', { message: 'hi' }))).toBe('Echo: hi');
    const long = { duration: 0.2, steps: 2 };
    await one.call('trigger-long-running-operation', long, { _meta: { progressToken: 5 } });
    const progress = one.received.filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params }) => params)).toMatchObject([
      { progressToken: 5, progress: 1 },
      { progressToken: 5, progress: 2 },
    ]);
    expect((await one.ask('resources/list')).result).toHaveProperty('resources');
    expect((await one.ask('prompts/get', { name: 'simple-prompt' })).result).toHaveProperty(
      'messages',
    );
  });

  it('serves SDK clients of both generations over HTTP, each with its own answers', async () => {
    const { url } = await open('everything').guard.listen();
    const info = { name: 'test', version: '1' };
    const [first, second] = [new ClientV1(info), new ClientV2(info)];
    await first.connect(new HttpV1(new URL(`${url}/mcp`)));
    await second.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    const ask = (client: { callTool: unknown }, message: string) =>
      (client as ClientV2).callTool({ name: 'echo', arguments: { message } });
    const answers = await Promise.all([ask(first, 'one'), ask(second, 'two'), ask(first, 'three')]);
    expect(answers).toMatchObject(
      ['one', 'two', 'three'].map((message) => ({ content: [{ text: `Echo: ${message}` }] })),
    );
    await first.close();
    await second.close();
  });
});

it('server-filesystem: writes once, reads and validates', async () => {
  const { client, guard } = open('filesystem', [dir]);
  const one = await client();
  const path = join(dir, 'a.txt');
  writeFileSync(path, 'old');
  const edits = [{ oldText: 'old', newText: 'new' }];
  await one.call('edit_file', { path, edits });
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(textOf(await one.call('read_text_file', { path }))).toBe('new');
  const invalid = await one.call('edit_file', { path, edits: 'x' });
  expect(invalid.result).not.toHaveProperty('structuredContent');
  expect(JSON.parse(String(textOf(invalid)))).toMatchObject({
    error: { code: 'validation_error' },
  });
  const effects = guard.tools.map(({ listed, decision }) => [listed.name, decision.effect]);
  expect(effects).toContainEqual(['read_text_file', 'read']);
  expect(effects).toContainEqual(['write_file', 'idempotent']);
  expect(effects).toContainEqual(['move_file', 'once']);
});

it('server-memory: a repeat after a cancellation acts once', async () => {
  const { client } = open('memory', [], { profile: false });
  const one = await client();
  const entities = [{ name: 'e', entityType: 't', observations: ['o'] }];
  await one.call('create_entities', { entities });
  const observations = [{ entityName: 'e', contents: ['p'] }];
  one.send({
    id: 90,
    method: 'tools/call',
    params: { name: 'add_observations', arguments: { observations } },
  });
  one.send({ method: 'notifications/cancelled', params: { requestId: 90 } });
  await one.call('add_observations', { observations });
  expect(textOf(await one.call('read_graph'))).toMatch(/"o",\s*"p"\s*\]/);
  expect(one.received.filter(({ id }) => id === 90)).toEqual([]);
});

it('trusts idempotentHint only if it is configured', async () => {
  const { client, guard } = open('memory', [], { trust: 'all', profile: false });
  await (await client()).call('read_graph');
  const effect = (name: string) =>
    guard.tools.find(({ listed }) => listed.name === name)?.decision.effect;
  expect([effect('delete_entities'), effect('create_entities')]).toEqual(['idempotent', 'once']);
});
