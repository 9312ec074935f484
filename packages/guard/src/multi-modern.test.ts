import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Message } from './frame.js';
import {
  createMultiRig,
  fakeUpstream,
  text,
  type FakeUpstream,
  type Rig,
  type RigClient,
} from './rig.fixture.js';

// Clients of revision 2026-07-28 in front of several upstreams.

type Members = Readonly<Record<string, unknown>>;

let rig: Omit<Rig, 'upstream'> | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await rig?.close();
  rig = undefined;
});
const open = (...given: Parameters<typeof createMultiRig>): RigClient =>
  (rig = createMultiRig(...given)).connect();

const META = 'io.modelcontextprotocol/';
const SUBSCRIPTION_KEY = `${META}subscriptionId`;
const _meta = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: {} };
const ask = (client: RigClient, method: string, params: Members = {}): Promise<Message> =>
  client.ask(method, { ...params, _meta: { ..._meta, ...(params['_meta'] as Members) } });

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
};

/** A server of this revision; it also knows the earlier ones unless it is strict. */
function modern(
  name: string,
  { isStrict = false, ...more }: Parameters<typeof fakeUpstream>[0] & { isStrict?: boolean } = {},
): FakeUpstream {
  return fakeUpstream({
    onCall: (call) => ({ resultType: 'complete', ...text(`${name}:${call.name}`) }),
    ...more,
    onRequest: (message, upstream) => {
      const own = more.onRequest?.(message, upstream);
      if (own !== undefined) return own;
      if (message.method === 'subscriptions/listen') return 'silent';
      if (message.method === 'server/discover') {
        return {
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: CAPABILITIES,
          instructions: `Use ${name}.`,
        };
      }
      if (message.method !== 'initialize' || !isStrict) return undefined;
      upstream.send({ id: message.id ?? null, error: { code: -32_601, message: 'unknown' } });
      return 'silent';
    },
  });
}

/** A server of an earlier revision. */
const legacy = (name: string): FakeUpstream =>
  fakeUpstream({
    onCall: (call) => text(`${name}:${call.name}`),
    onRequest: (message, upstream) => {
      if (message.method !== 'server/discover') return undefined;
      upstream.send({ id: message.id ?? null, error: { code: -32_601, message: 'unknown' } });
      return 'silent';
    },
  });

const textOf = ({ result }: Message): unknown =>
  (result?.['content'] as readonly { text: string }[] | undefined)?.at(-1)?.text;
const namesIn = ({ result }: Message): readonly string[] | undefined =>
  (result?.['tools'] as readonly { name: string }[] | undefined)?.map(({ name }) => name);

describe('upstreams of revision 2026-07-28', () => {
  it('are one server without a handshake', async () => {
    const client = open({ a: { fake: modern('a') }, b: { fake: modern('b') } });
    const listed = await ask(client, 'tools/list');
    expect(listed.result).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect(namesIn(listed)).toEqual(['a_get', 'a_add', 'b_get', 'b_add']);
    const called = await ask(client, 'tools/call', { name: 'b_add', arguments: {} });
    expect([textOf(called), called.result?.['resultType']]).toEqual(['b:add', 'complete']);
    expect((await ask(client, 'server/discover')).result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      instructions: '# a\nUse a.\n\n# b\nUse b.',
    });
  });

  it('refuse what the revision does not have', async () => {
    const client = open({ a: { fake: modern('a') }, b: { fake: modern('b') } });
    await ask(client, 'server/discover');
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe']) {
      expect((await ask(client, method, { uri: 'x:y' })).error?.code).toBe(-32_601);
    }
    expect((await client.ask('tools/list')).error?.code).toBe(-32_602);
    const other = { [`${META}protocolVersion`]: '2099-01-01' };
    expect((await ask(client, 'tools/list', { _meta: other })).error).toMatchObject({
      code: -32_022,
      data: { supported: ['2026-07-28'], requested: '2099-01-01' },
    });
  });

  it('ask for input in their results, and get it with the next call', async () => {
    const asking = modern('a', {
      onCall: (_call, upstream) =>
        upstream.received.at(-1)?.params?.['inputResponses'] === undefined
          ? { resultType: 'input_required', inputRequests: { x: {} }, requestState: 's' }
          : { resultType: 'complete', ...text('done') },
    });
    const client = open({ a: { fake: asking }, b: { fake: modern('b') } });
    const call = { name: 'a_get', arguments: {} };
    expect((await ask(client, 'tools/call', call)).result).toMatchObject({
      resultType: 'input_required',
      requestState: 's',
    });
    const next = { ...call, inputResponses: { x: {} }, requestState: 's' };
    expect(textOf(await ask(client, 'tools/call', next))).toBe('done');
  });

  it('are answered for by name if they are down', async () => {
    const down = modern('b', {
      onRequest: ({ method }) => (method === 'server/discover' ? 'silent' : undefined),
    });
    const client = open({
      a: { fake: modern('a') },
      b: { fake: down, bridge: 'all', startWaitSecs: 0, startTimeoutSecs: 0.05 },
    });
    const refused = await ask(client, 'tools/call', { name: 'b_get', arguments: {} });
    expect(refused.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { error: { code: 'upstream_unavailable' } },
    });
    expect(namesIn(await ask(client, 'tools/list'))).toEqual(['a_get', 'a_add']);
  });
});

describe('an upstream of an earlier revision among them', () => {
  it('makes the client use that revision', async () => {
    const [a, b] = [modern('a'), legacy('b')];
    const client = open({ a: { fake: a }, b: { fake: b } });
    expect((await ask(client, 'server/discover')).error?.code).toBe(-32_601);
    expect((await ask(client, 'tools/list')).error?.code).toBe(-32_022);
    const starts = [a.starts(), b.starts()];
    // What is known is not asked again.
    expect((await ask(client, 'server/discover')).error?.code).toBe(-32_601);
    expect([a.starts(), b.starts()]).toEqual(starts);
    await client.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    client.send({ method: 'notifications/initialized' });
    expect(namesIn(await client.ask('tools/list'))).toHaveLength(4);
    expect(textOf(await client.call('b_get'))).toBe('b:get');
  });

  it('is bridged if that is configured', async () => {
    const client = open({
      a: { fake: modern('a', { isStrict: true }) },
      b: { fake: legacy('b'), bridge: 'all' },
    });
    expect(namesIn(await ask(client, 'tools/list'))).toHaveLength(4);
    const [one, other] = await Promise.all(
      ['a_get', 'b_add'].map((name) => ask(client, 'tools/call', { name, arguments: {} })),
    );
    expect([one, other].map((message) => message && textOf(message))).toEqual(['a:get', 'b:add']);
    expect(other?.result?.['resultType']).toBe('complete');
  });

  it('does not keep the client from a session that it opens meanwhile', async () => {
    const silent = modern('b', {
      onRequest: ({ method }) => (method === 'server/discover' ? 'silent' : undefined),
    });
    const client = open({ a: { fake: modern('a') }, b: { fake: silent } });
    const discovered = ask(client, 'server/discover');
    await client.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    expect(namesIn(await client.ask('tools/list'))).toHaveLength(4);
    expect((await discovered).error?.code).toBe(-32_601);
  });
});

describe('subscriptions', () => {
  const filter = { toolsListChanged: true, resourceSubscriptions: ['x:1'] };
  const isAck = ({ method }: Message): boolean =>
    method === 'notifications/subscriptions/acknowledged';

  it('are one for the client and one for each upstream', async () => {
    const [a, b] = [modern('a'), modern('b')];
    const client = open({ a: { fake: a }, b: { fake: b } });
    await ask(client, 'server/discover');
    const acknowledged = client.next(isAck);
    client.send({
      id: 'sub',
      method: 'subscriptions/listen',
      params: { notifications: { ...filter, promptsListChanged: true }, _meta },
    });
    // Prompts do not change: no upstream says so.
    expect((await acknowledged).params).toEqual({
      notifications: filter,
      _meta: { [SUBSCRIPTION_KEY]: 'sub' },
    });
    const listening = (fake: FakeUpstream): boolean =>
      fake.received.some(({ method }) => method === 'subscriptions/listen');
    await expect.poll(() => listening(a) && listening(b)).toBe(true);
    const tagged = { _meta: { [SUBSCRIPTION_KEY]: 'sub' } };
    a.send({ method: 'notifications/subscriptions/acknowledged', params: tagged });
    const updated = client.next(({ method }) => method === 'notifications/resources/updated');
    b.send({ method: 'notifications/resources/updated', params: { uri: 'x:1', ...tagged } });
    expect((await updated).params?.['uri']).toBe('x:1');
    expect(client.received.filter(isAck)).toHaveLength(1);
    client.send({ method: 'notifications/cancelled', params: { requestId: 'sub' } });
    const cancelled = ({ received }: FakeUpstream): boolean =>
      received.some(({ method }) => method === 'notifications/cancelled');
    await expect.poll(() => cancelled(a) && cancelled(b)).toBe(true);
    b.send({ method: 'notifications/resources/updated', params: { uri: 'x:1', ...tagged } });
    await ask(client, 'tools/list');
    const updates = client.received.filter(
      ({ method }) => method === 'notifications/resources/updated',
    );
    expect(updates).toHaveLength(1);
  });

  it('end at once if there is nothing to listen to', async () => {
    const client = open({ a: { fake: modern('a') }, b: { fake: modern('b') } });
    const ended = await ask(client, 'subscriptions/listen', { notifications: {} });
    expect(ended.result).toMatchObject({ resultType: 'complete' });
    expect(client.received.filter(isAck)).toHaveLength(1);
    expect((await ask(client, 'subscriptions/listen')).error?.code).toBe(-32_602);
  });

  it('survive the loss of an upstream', async () => {
    const [a, b] = [modern('a'), modern('b')];
    const client = open({ a: { fake: a }, b: { fake: b } });
    await ask(client, 'tools/list');
    const listens = (): number =>
      b.received.filter(({ method }) => method === 'subscriptions/listen').length;
    client.send({
      id: 'sub',
      method: 'subscriptions/listen',
      params: { notifications: filter, _meta },
    });
    await expect.poll(listens).toBe(1);
    vi.useFakeTimers();
    b.crash();
    await vi.advanceTimersByTimeAsync(5000);
    expect(listens()).toBe(2);
    expect(client.received.filter(({ id }) => id === 'sub')).toEqual([]);
  });

  it('hear of an upstream that was late', async () => {
    let pending: Message | undefined;
    const late = modern('b', {
      onRequest: (message) => {
        if (message.method !== 'server/discover' || pending) return undefined;
        pending = message;
        return 'silent';
      },
    });
    const client = open({
      a: { fake: modern('a') },
      b: { fake: late, bridge: 'all', startWaitSecs: 0.01 },
    });
    expect(namesIn(await ask(client, 'tools/list'))).toHaveLength(2);
    client.send({
      id: 'sub',
      method: 'subscriptions/listen',
      params: { notifications: filter, _meta },
    });
    const changed = client.next(({ method }) => method === 'notifications/tools/list_changed');
    const result = { supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES };
    late.send({ id: pending?.id ?? null, result });
    expect((await changed).params).toEqual({ _meta: { [SUBSCRIPTION_KEY]: 'sub' } });
    expect(namesIn(await ask(client, 'tools/list'))).toHaveLength(4);
  });
});
