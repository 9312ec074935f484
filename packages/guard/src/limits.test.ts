import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Message } from './frame.js';
import {
  createMultiRig,
  createRig,
  fakeUpstream,
  text,
  type Rig,
  type RigOptions,
} from './rig.fixture.js';

let close: (() => Promise<void>) | undefined;
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(async () => {
  vi.useRealTimers();
  await close?.();
  close = undefined;
});
const open = (options: RigOptions): Rig => {
  const rig = createRig(options);
  ({ close } = rig);
  return rig;
};
const errorOf = ({ result }: Message) =>
  (result?.['structuredContent'] as { error: Readonly<Record<string, unknown>> } | undefined)
    ?.error;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
/** The answer, if it has come. */
const watch = (answer: Promise<Message>): { readonly answer: () => Message | undefined } => {
  let found: Message | undefined;
  void answer.then((message) => (found = message));
  return { answer: () => found };
};
const silent = (...methods: string[]) => {
  const ignored = new Set(methods);
  const onRequest: RigOptions['onRequest'] = ({ method = '' }) =>
    ignored.has(method) ? 'silent' : undefined;
  return { ignored, onRequest };
};

describe('a server that does not answer initialize', () => {
  it('is ended after the time for its start, which the client and the log are told', async () => {
    const { ignored, onRequest } = silent('initialize');
    const config = { startTimeoutSecs: 2 };
    const { connect, upstream, logs } = open({ config, onRequest, onCall: () => text('done') });
    const one = connect();
    const asked = watch(one.ask('initialize', hello));
    await pass(1990);
    expect(asked.answer()).toBeUndefined();
    await pass(20);
    expect(asked.answer()).toMatchObject({
      error: {
        code: 503,
        message: 'The upstream did not answer initialize within 2 s.',
        data: { retryable: true },
      },
    });
    expect(logs()).toContainEqual(
      expect.objectContaining({
        event: 'upstream_lost',
        reason: 'did not answer initialize within 2 s',
      }),
    );
    await pass(60_000);
    expect(upstream.starts()).toBe(1);
    ignored.clear();
    expect((await one.ask('initialize', hello)).result).toMatchObject({ capabilities: {} });
    one.send({ method: 'notifications/initialized' });
    expect((await one.call('add')).result).toMatchObject(text('done'));
    expect(upstream.starts()).toBe(2);
  });

  it('is started again by a call of a client that goes on', async () => {
    const { ignored, onRequest } = silent('initialize');
    const config = { startTimeoutSecs: 2 };
    const { connect, upstream } = open({ config, onRequest, onCall: () => text('done') });
    const one = connect();
    void one.ask('initialize', hello);
    const early = watch(one.call('add'));
    await pass(2010);
    expect(errorOf(early.answer()!)).toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringContaining('did not answer initialize') as string,
      outcome: 'not_executed',
    });
    ignored.clear();
    const first = watch(one.call('add'));
    await pass(1000);
    expect(first.answer()).toBeDefined();
    expect((await one.call('add')).result).toMatchObject(text('done'));
    expect(upstream.starts()).toBe(2);
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('the time limit of a call counts from its arrival', () => {
  const tools = { '*': { timeoutSecs: 2 } };
  const late = { code: 'timeout', outcome: 'not_executed', details: { clock: 'deadline' } };

  it.each(['initialize', 'tools/list'])('while the server does not answer %s', async (method) => {
    const { connect, upstream } = open({ config: { tools }, ...silent(method) });
    const one = connect();
    void one.ask('initialize', hello);
    await pass(0);
    if (method !== 'initialize') one.send({ method: 'notifications/initialized' });
    const called = watch(one.call('add'));
    await pass(1990);
    expect(called.answer()).toBeUndefined();
    await pass(20);
    expect(errorOf(called.answer()!)).toMatchObject(late);
    await pass(60_000);
    expect(upstream.calls).toEqual([]);
  });

  it('also if a part of it was spent with waiting', async () => {
    const { client, upstream } = open({
      config: { tools },
      onRequest: ({ id, method }, fake) => {
        if (method !== 'tools/list') return undefined;
        setTimeout(() => fake.send({ id: id!, result: { tools: [{ name: 'add' }] } }), 1500);
        return 'silent';
      },
    });
    const called = watch((await client()).call('add'));
    await pass(1600);
    expect(upstream.calls).toHaveLength(1);
    await pass(500);
    expect(errorOf(called.answer()!)).toMatchObject({ code: 'outcome_unknown' });
  });

  it('while one of several servers starts', async () => {
    const slow = fakeUpstream(silent('initialize'));
    const rig = createMultiRig({
      a: { fake: fakeUpstream() },
      b: { fake: slow, startWaitSecs: 0, tools },
    });
    ({ close } = rig);
    const connected = rig.client();
    await pass(10);
    const called = watch((await connected).call('b_add'));
    await pass(2010);
    expect(errorOf(called.answer()!)).toMatchObject({ outcome: 'not_executed' });
    expect(slow.calls).toEqual([]);
  });
});

describe('a request other than a call that is not answered', () => {
  const limit = 10_000;
  const config = {
    policy: { callTimeoutMs: limit, attemptTimeoutMs: limit, idleTimeoutMs: limit },
  };

  it('is refused after the time limit without progress, and a server that hangs is restarted', async () => {
    const { ignored, onRequest } = silent('resources/read', 'ping');
    const { client, upstream, logs } = open({ config, onRequest });
    const one = await client();
    const params = { uri: 'x:y', _meta: { progressToken: 't' } };
    const asked = watch(one.ask('resources/read', params));
    await pass(9000);
    const progress = { progressToken: 't', progress: 1 };
    upstream.send({ method: 'notifications/progress', params: progress });
    await pass(9000);
    expect(asked.answer()).toBeUndefined();
    await pass(1010);
    expect(asked.answer()).toMatchObject({
      error: { code: 503, message: 'The upstream did not answer resources/read within 10 s.' },
    });
    expect(logs().map(({ event }) => event)).toContain('upstream_request_timeout');
    expect(upstream.received.map(({ method }) => method)).toContain('notifications/cancelled');
    ignored.clear();
    await pass(5010);
    expect(upstream.starts()).toBe(2);
    expect((await one.ask('resources/read', params)).result).toEqual({});
  });

  it('may take any time if its answer is the end of a subscription', async () => {
    const { ignored, onRequest } = silent('subscriptions/listen');
    const { client, upstream } = open({ config, onRequest });
    const one = await client();
    const asked = watch(one.ask('subscriptions/listen'));
    await pass(60_000);
    expect(asked.answer()).toBeUndefined();
    expect(upstream.starts()).toBe(1);
    // A server that hangs is found out all the same.
    ignored.add('ping');
    await pass(20_000);
    expect(upstream.starts()).toBeGreaterThan(1);
    expect(asked.answer()).toMatchObject({ error: { code: 503 } });
  });
});

describe('a server that does not respond while it works on a mutation', () => {
  const tools = { get: { timeoutSecs: 1 }, add: { timeoutSecs: 60 } };
  const policy = { attemptTimeoutMs: 60_000, idleTimeoutMs: 60_000, maxRetries: 0 };

  const start = async () => {
    const { onRequest } = silent('ping');
    const rig = open({ config: { tools, policy }, onRequest });
    const one = await rig.client();
    const writing = watch(one.call('add', { n: 1 }));
    const reading = watch(one.call('get'));
    await pass(1500);
    expect(errorOf(reading.answer()!)).toMatchObject({ code: 'timeout' });
    return { ...rig, one, writing };
  };

  it('is not ended by the timeout of a read, and the mutation gets its answer', async () => {
    const { upstream, writing } = await start();
    await pass(20_000);
    expect(upstream.starts()).toBe(1);
    const { id } = upstream.calls.find(({ name }) => name === 'add')!;
    upstream.send({ id, result: text('added') });
    await pass(10);
    expect(writing.answer()).toMatchObject({ result: text('added') });
  });

  it('is restarted once the time of the mutation has passed as well', async () => {
    const { upstream, writing } = await start();
    await pass(60_000);
    expect(errorOf(writing.answer()!)).toMatchObject({ code: 'outcome_unknown' });
    await pass(6000);
    expect(upstream.starts()).toBe(2);
  });
});
