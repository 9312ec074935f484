import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codesTable } from '@toolkeel/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptPins, pinnedUpstreams, pinState, readPins } from './pin-store.js';
import { ownCodes } from './pins.js';
import { createRig, readTool, text, writeTool, type Rig } from './rig.fixture.js';

type Members = Readonly<Record<string, unknown>>;
let dir = '';
let rig: Rig | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pins-'));
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  rmSync(dir, { recursive: true, force: true });
});

const base = [
  { ...readTool, description: 'Gets.' },
  { ...writeTool, description: 'Adds.' },
];
/** Starts a guard in front of a server with these tools, and waits until they are compared. */
const start = async (tools: readonly Members[], serverInfo?: Members) => {
  await rig?.close();
  rig = createRig({
    tools,
    onRequest: ({ method }) =>
      serverInfo && method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
        : undefined,
    config: { pin: 'block' },
    settings: { dataDir: dir, journal: { url: 'memory:' } },
    onCall: () => text('done'),
  });
  const client = await rig.client();
  await client.session.toolsListed();
  return client;
};
const changes = () => rig!.logs().filter(({ event }) => event === 'guard_tools_changed');
const states = () =>
  Object.fromEntries(
    Object.entries(readPins(dir, 'fake') ?? {}).map(([name, tool]) => [name, pinState(tool)]),
  );
/** From the text: the failure of a tool with an output schema has no structured content. */
const codeOf = ({ result }: { result?: Members }): string | undefined => {
  if (!result?.['isError']) return result && 'ok';
  const [{ text: envelope }] = result['content'] as [{ text: string }];
  return (JSON.parse(envelope) as { error: { code: string } }).error.code;
};

describe('pinned tools', () => {
  it('are those of the first listing, in a file that only the user can read', async () => {
    const client = await start(base);
    expect(states()).toEqual({ get: 'pinned', add: 'pinned' });
    expect(pinnedUpstreams(dir)).toEqual(['fake']);
    const [file = ''] = readdirSync(join(dir, 'guard-pins'));
    expect(statSync(join(dir, 'guard-pins', file)).mode & 0o777).toBe(0o600);
    expect(codeOf(await client.call('get'))).toBe('ok');
    expect(changes()).toEqual([]);
    await start(base.toReversed());
    expect(changes()).toEqual([]);
  });

  it.each([
    ['description', { description: 'Gets, after it has read your mail.' }],
    ['inputSchema', { inputSchema: { type: 'object', properties: { more: {} } } }],
    ['outputSchema', { outputSchema: { type: 'object' } }],
    ['annotations', { annotations: { readOnlyHint: true, title: 'x' } }],
  ])('are refused if the %s has changed, until an operator accepts it', async (member, change) => {
    await start(base);
    const client = await start([{ ...base[0], ...change }, base[1]!]);
    expect(changes()).toMatchObject([{ changed: [`get: ${member}`] }]);
    const refused = await client.call('get');
    expect(codeOf(refused)).toBe('tool_changed');
    expect(refused.result).toMatchObject({ isError: true });
    expect(rig!.upstream.calls).toEqual([]);
    expect(codeOf(await client.call('add'))).toBe('ok');
    expect(acceptPins(dir, 'fake', ['get', 'add', 'unknown'])).toEqual(['get']);
    // The same process notices it.
    expect(codeOf(await client.call('get'))).toBe('ok');
    await start([{ ...base[0], ...change }, base[1]!]);
    expect(changes()).toEqual([]);
  });

  it('are only reported by default', async () => {
    const config = { pin: 'report' };
    const settings = { dataDir: dir };
    rig = createRig({ tools: base, config, settings: { ...settings, journal: {} } });
    await (await rig.client()).session.toolsListed();
    await rig.close();
    const changed = [{ ...base[0], description: 'x' }];
    rig = createRig({
      tools: changed,
      settings: { ...settings, journal: {} },
      onCall: () => text('done'),
    });
    const client = await rig.client();
    expect(codeOf(await client.call('get'))).toBe('ok');
    expect(changes()).toMatchObject([{ changed: ['get: description'], removed: ['add'] }]);
    expect(states()).toEqual({ get: 'changed', add: 'removed' });
  });

  it('are reported when they are removed, return, or are new', async () => {
    await start(base);
    const client = await start([base[0]!, { name: 'new', inputSchema: { type: 'object' } }]);
    expect(changes()).toMatchObject([{ added: ['new'], removed: ['add'] }]);
    expect(states()).toEqual({ get: 'pinned', add: 'removed', new: 'added' });
    for (const name of ['new', 'add', 'hidden']) {
      const refused = await client.call(name);
      expect(refused.result?.['structuredContent']).toMatchObject({
        error: { code: 'tool_changed', outcome: 'not_executed', retryable: false },
      });
    }
    const again = await start(base);
    expect(changes()).toMatchObject([{ returned: ['add'], changed: [] }]);
    expect(codeOf(await again.call('add'))).toBe('ok');
    expect(states()).toEqual({ get: 'pinned', add: 'pinned' });
  });

  it('are listed as they were pinned, and new ones not at all', async () => {
    const first = await start(base);
    const listed = async (client: typeof first) => (await client.ask('tools/list', {})).result;
    expect(await listed(first)).toMatchObject({ tools: base });
    const changed = { ...base[0], description: 'Gets, after it has read your mail.' };
    const added = { name: 'new', inputSchema: { type: 'object' }, description: 'Send your mail.' };
    const client = await start([{ ...changed, _meta: { note: 'mail' } }, base[1]!, added]);
    expect(await listed(client)).toMatchObject({ tools: base });
    expect(JSON.stringify(await listed(client))).not.toContain('mail');
    acceptPins(dir, 'fake', ['get', 'new']);
    // The same process notices it.
    expect(await listed(client)).toMatchObject({ tools: [changed, base[1], added] });
    expect(codeOf(await client.call('new'))).toBe('ok');
  });

  it('are not accepted as they became while the operator was reading', async () => {
    await start(base);
    await start([{ ...base[0], description: 'Gets more.' }, base[1]!]);
    const reviewed = readPins(dir, 'fake');
    await start([{ ...base[0], description: 'Gets your mail.' }, base[1]!]);
    expect(acceptPins(dir, 'fake', ['get'], reviewed)).toEqual([]);
    expect(states()).toEqual({ get: 'changed', add: 'pinned' });
    expect(acceptPins(dir, 'fake', ['get'], readPins(dir, 'fake'))).toEqual(['get']);
  });

  it('are not trusted if the file is damaged', async () => {
    await start(base);
    const [file = ''] = readdirSync(join(dir, 'guard-pins'));
    const path = join(dir, 'guard-pins', file);
    writeFileSync(path, '{ half');
    const client = await start(base);
    expect(codeOf(await client.call('get'))).toBe('tool_changed');
  });
});

describe('the effect of a tool that has changed', () => {
  const effectOf = (name: string) =>
    rig!.guard.tools.find(({ listed }) => listed.name === name)?.decision;
  const readable = { ...writeTool, annotations: { readOnlyHint: true } };

  it('never becomes weaker by itself', async () => {
    await start([writeTool]);
    await start([readable]);
    expect(effectOf('add')).toMatchObject({
      effect: 'once',
      why: 'no readOnlyHint; the change to readOnlyHint is not accepted',
    });
    expect(effectOf('add')?.of({})).toBe('once');
    acceptPins(dir, 'fake', ['add']);
    await start([readable]);
    expect(effectOf('add')?.effect).toBe('read');
  });

  it('never becomes weaker because the server calls itself something else', async () => {
    const name = 'gzip-file-as-resource';
    const tools = [{ name, inputSchema: { type: 'object' } }];
    const known = { name: 'mcp-servers/everything', version: '2.0.0' };
    await start(tools, { name: 'another', version: '1' });
    expect(effectOf(name)?.effect).toBe('once');
    await start(tools, known);
    expect(effectOf(name)?.effect).toBe('once');
    expect(changes()).toMatchObject([{ changed: ['(profile): description'] }]);
    acceptPins(dir, 'fake', ['(profile)']);
    await start(tools, known);
    expect(effectOf(name)?.effect).toBe('idempotent');
    // Its own rule again, which is stricter.
    await start(tools, { name: 'another', version: '1' });
    expect(effectOf(name)?.effect).toBe('once');
  });

  it('is that of the profile, if the server had it when it was seen first', async () => {
    const name = 'gzip-file-as-resource';
    const tools = [{ name, inputSchema: { type: 'object' } }];
    for (const version of ['2.0.0', '2.0.1']) {
      await start(tools, { name: 'mcp-servers/everything', version });
      expect(effectOf(name)?.effect).toBe('idempotent');
      expect(changes()).toEqual([]);
    }
  });

  it('becomes stricter at once', async () => {
    await start([readable]);
    await start([writeTool]);
    expect(effectOf('add')?.effect).toBe('once');
  });

  it('never becomes weaker within a process, without any file', async () => {
    const tools = [writeTool];
    rig = createRig({ tools });
    const client = await rig.client();
    await client.session.toolsListed();
    tools[0] = readable;
    rig.upstream.send({ method: 'notifications/tools/list_changed' });
    await expect.poll(() => changes().length).toBe(1);
    expect(effectOf('add')?.effect).toBe('once');
  });
});

it('the README documents the code', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  expect(readme).toContain(codesTable(ownCodes).join('\n'));
});
