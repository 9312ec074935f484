import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from './frame.js';
import { createRig, readTool, text, type FakeUpstream, type Rig } from './rig.fixture.js';

let rig: Rig;
afterEach(() => rig.close());

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const meta = { [VERSION]: '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
const versionIn = ({ params }: Message): unknown =>
  (params?.['_meta'] as Record<string, unknown> | undefined)?.[VERSION];

const refuse = (upstream: FakeUpstream, { id = null }: Message, code: number): 'silent' => {
  upstream.send({ id, error: { code, message: 'refused' } });
  return 'silent';
};

describe('a client with a session and a server without', () => {
  const discovered = {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    resultType: 'complete',
  };
  const tools = [
    { ...readTool, outputSchema: { type: 'array' } },
    { name: 'other', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } },
  ];
  const open = () =>
    (rig = createRig({
      tools,
      onRequest: (message, upstream) => {
        if (message.method === 'server/discover') return discovered;
        return versionIn(message) === undefined ? refuse(upstream, message, -32_022) : undefined;
      },
      onCall: () => ({ ...text('done'), structuredContent: [1], resultType: 'complete' }),
    }));

  it('are bridged, also after the server was restarted', async () => {
    const { client, upstream } = open();
    const one = await client();
    expect(one.received[0]?.result).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'unknown', version: '0' },
    });
    const listed = await one.ask('tools/list');
    expect(listed.result?.['tools']).toEqual([readTool, tools[1]]);
    expect((await one.call('get')).result).toEqual(text('done'));
    upstream.crash();
    expect((await one.call('get')).result).toMatchObject(text('done'));
    expect(upstream.starts()).toBe(2);
  });

  it('keep their log level, and share pings', async () => {
    const { client, upstream } = open();
    const one = await client();
    expect((await one.ask('logging/setLevel', { level: 'info' })).result).toEqual({});
    expect((await one.ask('ping')).result).toEqual({});
    await one.ask('prompts/list', { cursor: 'c' });
    expect(upstream.received.at(-1)).toMatchObject({
      method: 'prompts/list',
      params: { cursor: 'c', _meta: { 'io.modelcontextprotocol/logLevel': 'info' } },
    });
  });

  it('get the refusal of a server that knows neither revision', async () => {
    rig = createRig({
      onRequest: (message, upstream) => refuse(upstream, message, -32_601),
    });
    const one = await rig.client();
    expect(one.received[0]?.error).toEqual({ code: -32_601, message: 'refused' });
  });
});

describe('a client without a session and a server that needs one', () => {
  const ask = (one: Awaited<ReturnType<Rig['connect']>>, method: string, params = {}) =>
    one.ask(method, { ...params, _meta: meta });

  it('are bridged if that is configured, also if the server ends at what it does not know', async () => {
    rig = createRig({
      config: { bridge: 'all' },
      onRequest: (message, upstream) => {
        if (message.method !== 'server/discover') return undefined;
        upstream.crash('exited');
        return 'silent';
      },
      onCall: () => text('done'),
    });
    const one = rig.connect();
    const { result } = await ask(one, 'server/discover');
    expect(result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
    });
    const { upstream } = rig;
    expect((await ask(one, 'tools/list')).result).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
    const call = { name: 'get', arguments: {} };
    expect((await ask(one, 'tools/call', call)).result).toEqual({
      ...text('done'),
      resultType: 'complete',
    });
    expect(upstream.received.filter((message) => versionIn(message) !== undefined)).toHaveLength(1);
    upstream.send({ id: 9, method: 'sampling/createMessage', params: {} });
    upstream.send({ method: 'notifications/tools/list_changed' });
    upstream.send({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
    expect((await ask(one, 'subscriptions/listen')).error).toMatchObject({
      code: -32_601,
      data: { code: 'unsupported_by_upstream' },
    });
    await expect
      .poll(() => upstream.received.find(({ id, error }) => id === 9 && error)?.error?.code)
      .toBe(-32_601);
    expect(one.received.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it('are not bridged otherwise', async () => {
    rig = createRig({
      onRequest: (message, upstream) =>
        message.method === 'server/discover' ? refuse(upstream, message, -32_601) : undefined,
    });
    const { error } = await ask(rig.connect(), 'server/discover');
    expect(error).toEqual({ code: -32_601, message: 'refused' });
  });
});
