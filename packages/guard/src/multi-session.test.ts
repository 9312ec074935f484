import { ConfigError } from '@toolkeel/host';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from './frame.js';
import {
  createMultiRig,
  fakeUpstream,
  readTool,
  text,
  writeTool,
  type FakeUpstream,
  type Rig,
} from './rig.fixture.js';

type MultiRig = Omit<Rig, 'upstream'>;
let rig: MultiRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
const open = (...given: Parameters<typeof createMultiRig>): MultiRig =>
  (rig = createMultiRig(...given));

/** Answers every call with its own name. */
const named = (name: string, more: Parameters<typeof fakeUpstream>[0] = {}): FakeUpstream =>
  fakeUpstream({ onCall: (call) => text(`${name}:${call.name}`), ...more });
const toolNames = ({ result }: Message): readonly string[] | undefined =>
  (result?.['tools'] as readonly { name: string }[] | undefined)?.map(({ name }) => name);
const textOf = ({ result }: Message): unknown =>
  (result?.['content'] as readonly { text: string }[] | undefined)?.at(-1)?.text;

/** An upstream whose handshake the test completes. */
function slow(name: string): { fake: FakeUpstream; start: () => void } {
  let pending: Message | undefined;
  const fake = named(name, {
    onRequest: (message) => {
      if (message.method !== 'initialize') return undefined;
      pending = message;
      return 'silent';
    },
  });
  const start = (): void => {
    if (!pending) throw new Error('not asked yet');
    fake.send({
      id: pending.id ?? null,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name, version: '1' },
      },
    });
  };
  return { fake, start };
}

describe('several upstreams', () => {
  it('list their tools under prefixes, and each call reaches its own', async () => {
    const [a, b] = [named('a'), named('b')];
    const { client } = open({ a: { fake: a }, 'my b': { fake: b } });
    const one = await client();
    expect(toolNames(await one.ask('tools/list'))).toEqual([
      'a_get',
      'a_add',
      'my_b_get',
      'my_b_add',
    ]);
    expect(textOf(await one.call('my_b_get'))).toBe('b:get');
    expect(textOf(await one.call('a_add', { x: 1 }))).toBe('a:add');
    expect(a.calls.map(({ name }) => name)).toEqual(['add']);
    expect(b.calls.map(({ name }) => name)).toEqual(['get']);
  });

  it('have the prefixes that are configured, and rules by the names of the server', async () => {
    const config = { prefix: 'x.', tools: { add: { effect: 'read' } } };
    const { client, guard } = open({ a: { fake: named('a'), ...config }, b: { fake: named('b') } });
    const one = await client();
    expect(toolNames(await one.ask('tools/list'))?.slice(0, 2)).toEqual(['x.get', 'x.add']);
    const effects = guard.tools.map(({ tool, decision }) => [tool.name, decision.effect]);
    expect(effects).toContainEqual(['x.add', 'read']);
    expect(effects).toContainEqual(['b_add', 'once']);
  });

  it('refuse a name that two of them have', async () => {
    const [a, b] = [
      named('a', { tools: [readTool, writeTool] }),
      named('b', { tools: [writeTool] }),
    ];
    const { client, logs } = open({ a: { fake: a, prefix: '' }, b: { fake: b, prefix: '' } });
    const one = await client();
    expect(toolNames(await one.ask('tools/list'))).toEqual(['get']);
    const refused = await one.call('add');
    expect(refused.error?.message).toContain('Set a "prefix"');
    expect([...a.calls, ...b.calls]).toEqual([]);
    expect(logs()).toContainEqual(
      expect.objectContaining({ event: 'guard_name_conflict', name: 'add' }),
    );
    expect((await one.call('nothing')).error?.message).toBe('Unknown tool: nothing');
  });

  it('refuse a name that two of them have, also before the client has listed any', async () => {
    const clash = [{ ...writeTool, name: 'b_add' }];
    const [a, b] = [named('a', { tools: clash }), named('b')];
    const { client } = open({ a: { fake: a, prefix: '' }, b: { fake: b } });
    const refused = await (await client()).call('b_add');
    expect(refused.error?.message).toContain('Set a "prefix"');
    expect([...a.calls, ...b.calls]).toEqual([]);
  });

  it('find a tool without a prefix, also before the client has listed any', async () => {
    const tools = [{ ...readTool, name: 'other' }];
    const { client } = open({
      a: { fake: named('a'), prefix: '' },
      b: { fake: named('b', { tools }), prefix: '' },
    });
    expect(textOf(await (await client()).call('other'))).toBe('b:other');
  });

  it('merge their capabilities and instructions', async () => {
    const initialize = (capabilities: object, instructions?: string) => (message: Message) =>
      message.method === 'initialize'
        ? {
            protocolVersion: '2024-11-05',
            capabilities,
            serverInfo: { name: 's', version: '1' },
            instructions,
          }
        : undefined;
    const a = named('a', { onRequest: initialize({ tools: {}, logging: {} }, 'Use a.') });
    const b = named('b', { onRequest: initialize({ resources: { subscribe: true } }) });
    const { client } = open({ a: { fake: a }, b: { fake: b } });
    const [answered] = (await client()).received;
    expect(answered?.result).toMatchObject({
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true }, logging: {}, resources: { subscribe: true } },
      instructions: '# a\nUse a.',
    });
    expect(answered?.result?.['capabilities']).not.toHaveProperty('prompts');
  });
});

it('an invalid log level was accepted, and passed on to every upstream', async () => {
  const levels: unknown[] = [];
  const fake = named('a', {
    capabilities: { tools: {}, logging: {} },
    onRequest: ({ method, params }) => {
      if (method !== 'logging/setLevel') return undefined;
      levels.push(params?.['level']);
      return {};
    },
  });
  const { client } = open({ a: { fake }, b: { fake: named('b') } });
  const one = await client();
  const refused = await one.ask('logging/setLevel', { level: 'loud' });
  expect(refused.error).toMatchObject({ code: -32_602 });
  expect((await one.ask('logging/setLevel', { level: 'warning' })).result).toEqual({});
  await expect.poll(() => levels).toEqual(['warning']);
});

describe('a slow start', () => {
  it('does not delay the others, and its tools appear with list-changed', async () => {
    const b = slow('b');
    const { client } = open({ a: { fake: named('a') }, b: { fake: b.fake, startWaitSecs: 0.01 } });
    const one = await client();
    expect(toolNames(await one.ask('tools/list'))).toEqual(['a_get', 'a_add']);
    expect(textOf(await one.call('a_get'))).toBe('a:get');
    const changed = one.next(({ method }) => method === 'notifications/tools/list_changed');
    b.start();
    await changed;
    expect(toolNames(await one.ask('tools/list'))).toEqual(['a_get', 'a_add', 'b_get', 'b_add']);
    expect(textOf(await one.call('b_get'))).toBe('b:get');
  });

  it('keeps rules for its tools, and a rule that names no tool is a mistake in the end', async () => {
    const b = slow('b');
    const { client, guard } = open(
      { a: { fake: named('a') }, b: { fake: b.fake, startWaitSecs: 0.01 } },
      { settings: { blockedTools: ['a_add', 'b_gone'] } },
    );
    const one = await client();
    const denied = await one.call('a_add');
    expect(denied.result?.['structuredContent']).toMatchObject({
      error: { policy_decision: 'denied' },
    });
    b.start();
    await expect(guard.failed).rejects.toThrow(ConfigError);
    await expect(guard.failed).rejects.toThrow(/b_gone/);
  });

  it('that fails is tried again, while the others work', async () => {
    const dead = fakeUpstream();
    const { client, logs } = open({
      a: { fake: named('a') },
      b: {
        fake: {
          ...dead,
          connect: (events) => {
            const link = dead.connect(events);
            queueMicrotask(() => dead.crash('exited with code 1'));
            return link;
          },
        },
      },
    });
    const one = await client();
    expect(textOf(await one.call('a_get'))).toBe('a:get');
    await expect
      .poll(logs)
      .toContainEqual(expect.objectContaining({ event: 'upstream_not_started', upstream: 'b' }));
    const failed = await one.call('b_get');
    expect(failed.result).toMatchObject({
      isError: true,
      structuredContent: {
        error: { code: 'upstream_unavailable', outcome: 'not_executed', retryable: true },
      },
    });
    expect(textOf(failed)).toContain('exited with code 1');
    const prompt = await one.ask('prompts/get', { name: 'b_hello' });
    expect(prompt.error).toMatchObject({ code: 503, data: { retryable: true } });
  });

  it('answers requests that waited for an upstream that does not start', async () => {
    const silent = named('b', {
      onRequest: ({ method }) => (method === 'initialize' ? 'silent' : undefined),
    });
    const { client } = open({
      a: { fake: named('a') },
      b: { fake: silent, startWaitSecs: 0, startTimeoutSecs: 0.05 },
    });
    const one = await client();
    const [called, prompt] = await Promise.all([
      one.call('b_add'),
      one.ask('prompts/get', { name: 'b_hello' }),
    ]);
    expect(textOf(called)).toContain('did not answer initialize in time');
    expect(called.result).toMatchObject({
      structuredContent: { error: { code: 'upstream_unavailable', outcome: 'not_executed' } },
    });
    expect(prompt.error?.message).toContain('did not answer initialize in time');
    // Nothing may reach a server before its handshake.
    expect(silent.received.every(({ method }) => method === 'initialize')).toBe(true);
  });

  it('keeps a cancelled request from an upstream that starts later', async () => {
    const b = slow('b');
    const { client } = open({ a: { fake: named('a') }, b: { fake: b.fake, startWaitSecs: 0 } });
    const one = await client();
    one.send({ id: 70, method: 'tools/call', params: { name: 'b_add', arguments: {} } });
    await one.call('a_get');
    one.send({ method: 'notifications/cancelled', params: { requestId: 70 } });
    b.start();
    expect(textOf(await one.call('b_get'))).toBe('b:get');
    expect(b.fake.calls.map(({ name }) => name)).toEqual(['get']);
  });
});

describe('the death of one upstream', () => {
  it('leaves the calls and lists of the others alone', async () => {
    const a = fakeUpstream({ onCall: () => undefined });
    const { client } = open({ a: { fake: a }, b: { fake: named('b') } });
    const one = await client();
    await one.ask('tools/list');
    const lost = one.call('a_add', { x: 1 });
    await expect.poll(() => a.calls.length).toBe(1);
    a.crash();
    expect(textOf(await one.call('b_add', { x: 1 }))).toBe('b:add');
    expect((await lost).result?.['structuredContent']).toMatchObject({
      error: { code: 'outcome_unknown', outcome: 'unknown' },
    });
    expect(toolNames(await one.ask('tools/list'))).toHaveLength(4);
    expect(a.starts()).toBe(2);
  });
});

describe('ids and progress tokens', () => {
  const asking = (name: string): FakeUpstream =>
    fakeUpstream({
      onCall: (_call, upstream) =>
        upstream.send({ id: 1, method: 'sampling/createMessage', params: { from: name } }),
      onRequest: (message, upstream) => {
        if (message.method !== undefined) return undefined;
        upstream.send({ id: upstream.calls.at(-1)?.id ?? null, result: text(name) });
        return 'silent';
      },
    });

  it('of two upstreams that ask with the same id do not clash', async () => {
    const [a, b] = [asking('a'), asking('b')];
    const { client } = open({ a: { fake: a }, b: { fake: b } });
    const one = await client({ sampling: {} });
    one.send({ id: 70, method: 'tools/call', params: { name: 'a_get' } });
    one.send({ id: 71, method: 'tools/call', params: { name: 'b_get' } });
    const asked = (): readonly Message[] =>
      one.received.filter(({ method }) => method === 'sampling/createMessage');
    await expect.poll(asked).toHaveLength(2);
    expect(new Set(asked().map(({ id }) => id)).size).toBe(2);
    for (const { id, params } of asked()) {
      one.send({ id: id ?? null, result: { model: String(params?.['from']) } });
    }
    const answers = (upstream: FakeUpstream): unknown[] =>
      upstream.received.filter(({ method }) => method === undefined);
    await expect
      .poll(() => answers(a))
      .toEqual([{ jsonrpc: '2.0', id: 1, result: { model: 'a' } }]);
    expect(answers(b)).toEqual([{ jsonrpc: '2.0', id: 1, result: { model: 'b' } }]);
  });

  it('of a call are not usable by another upstream', async () => {
    const a = fakeUpstream({ onCall: () => undefined });
    const b = named('b');
    const { client } = open({ a: { fake: a }, b: { fake: b } });
    const one = await client();
    one.send({
      id: 80,
      method: 'tools/call',
      params: { name: 'a_get', _meta: { progressToken: 't' } },
    });
    await expect.poll(() => a.calls.length).toBe(1);
    await one.call('b_get');
    const progress = (value: number) =>
      ({
        method: 'notifications/progress',
        params: { progressToken: 't', progress: value },
      }) as const;
    b.send(progress(50));
    b.send({ id: 80, result: text('forged') });
    a.send(progress(1));
    a.send({ id: 80, result: text('real') });
    await expect
      .poll(() => one.received.find(({ id }) => id === 80))
      .toMatchObject({
        result: { content: [{ text: 'real' }] },
      });
    expect(one.received.filter(({ method }) => method === 'notifications/progress')).toMatchObject([
      { params: { progress: 1 } },
    ]);
  });

  it('of a cancelled call reach the upstream of the call', async () => {
    const a = fakeUpstream({ onCall: () => undefined });
    const b = named('b');
    const { client } = open({ a: { fake: a }, b: { fake: b } });
    const one = await client();
    one.send({ id: 90, method: 'tools/call', params: { name: 'a_get' } });
    await expect.poll(() => a.calls.length).toBe(1);
    one.send({ method: 'notifications/cancelled', params: { requestId: 90 } });
    const isCancelled = ({ method }: Message): boolean => method === 'notifications/cancelled';
    await expect.poll(() => a.received.filter(isCancelled)).toHaveLength(1);
    expect(b.received.filter(isCancelled)).toEqual([]);
    expect(one.received.filter(({ id }) => id === 90)).toEqual([]);
  });
});

it('clients of revision 2026-07-28 are told to use an earlier one', async () => {
  const { guard } = open({ a: { fake: named('a') }, b: { fake: named('b') } });
  const received: Message[] = [];
  const route = guard.open({
    send: ({ message }) => void received.push(message),
    pause: () => {},
    resume: () => {},
  });
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const ask = (id: number, method: string): void => {
    const message = { jsonrpc: '2.0', id, method, params: { _meta } } as const;
    route.receive({ message, line: JSON.stringify(message) });
  };
  ask(1, 'server/discover');
  ask(2, 'tools/list');
  const byId = (): readonly Message[] =>
    received.toSorted((one, other) => Number(one.id) - Number(other.id));
  await expect.poll(byId).toMatchObject([
    { id: 1, error: { code: -32_601 } },
    { id: 2, error: { code: -32_022, data: { requested: '2026-07-28' } } },
  ]);
  await route.close();
});

describe('the settings of each upstream', () => {
  it('include and exclude tools by the names of the server', async () => {
    const { client } = open({
      a: { fake: named('a'), include: ['get'] },
      b: { fake: named('b'), exclude: ['get'] },
    });
    const one = await client();
    expect(toolNames(await one.ask('tools/list'))).toEqual(['a_get', 'b_add']);
    expect((await one.call('a_add')).error?.message).toContain('Unknown tool');
  });

  it('recognise errors by the names of the server', async () => {
    const flaky = (): FakeUpstream =>
      fakeUpstream({
        onCall: (_call, { calls }) =>
          calls.length === 1 ? { ...text('the moon is down'), isError: true } : text('ok'),
      });
    const [a, b] = [flaky(), flaky()];
    const errors = [{ match: 'moon is down', fault: 'unavailable', tools: ['get'] }];
    const { client } = open({ a: { fake: a, errors }, b: { fake: b } });
    const one = await client();
    expect(textOf(await one.call('a_get'))).toBe('ok');
    expect(textOf(await one.call('b_get'))).toBe('the moon is down');
  });

  it('come from the profile of the server, with its errors', async () => {
    const properties = { url: {}, max_length: {}, start_index: {}, raw: {} };
    const fetch = fakeUpstream({
      tools: [{ name: 'fetch', inputSchema: { type: 'object', properties } }],
      onRequest: ({ method }) =>
        method === 'initialize'
          ? {
              protocolVersion: '2025-11-25',
              capabilities: { tools: {} },
              serverInfo: { name: 'mcp-fetch', version: '1.27.0' },
            }
          : undefined,
      onCall: (_call, { calls }) =>
        calls.length === 1
          ? { ...text('Failed to fetch robots.txt due to a connection issue'), isError: true }
          : text('page'),
    });
    const { client, guard } = open({ web: { fake: fetch }, b: { fake: named('b') } });
    const one = await client();
    expect(textOf(await one.call('web_fetch', { url: 'http://example.com' }))).toBe('page');
    const tool = guard.tools.find(({ listed }) => listed.name === 'web_fetch');
    expect(tool?.decision).toMatchObject({ effect: 'read', why: 'profile' });
  });
});
