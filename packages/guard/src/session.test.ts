import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { objectIn, type Message } from './frame.js';
import { createRig, readTool, text, writeTool, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig;
const open = (options?: RigOptions): Rig => (rig = createRig(options));
afterEach(() => rig.close());

const echo: RigOptions['onCall'] = ({ args }) => text(JSON.stringify(args));
const envelopeOf = ({ result }: Message) =>
  result?.['structuredContent'] as {
    success: boolean;
    error: { code: string; outcome?: string; operation_id?: string };
  };

describe('a frame router', () => {
  it('passes frames on unchanged in both directions', async () => {
    const { client, upstream } = open({ onCall: echo });
    const one = await client();
    const params = {
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'a', value: 'b' },
      x: 1,
    };
    await one.ask('completion/complete', params, 'a string id');
    expect(upstream.received).toContainEqual({
      jsonrpc: '2.0',
      id: 'a string id',
      method: 'completion/complete',
      params,
    });
    const answered = await one.call('get', { a: [1, null] });
    expect(answered).toMatchObject({ result: text('{"a":[1,null]}') });
    expect(answered.result).not.toHaveProperty('_meta');
  });

  it('passes requests of the upstream to the client and answers back', async () => {
    const { client, upstream } = open();
    const one = await client();
    const asked = one.next(({ method }) => method === 'sampling/createMessage');
    upstream.send({ id: 7, method: 'sampling/createMessage', params: { maxTokens: 1 } });
    expect(await asked).toMatchObject({ id: 7, params: { maxTokens: 1 } });
    one.send({ id: 7, result: { role: 'assistant' } });
    await expect
      .poll(() => upstream.received)
      .toContainEqual({ jsonrpc: '2.0', id: 7, result: { role: 'assistant' } });
  });

  it('drops answers of the client to requests that the upstream never made', async () => {
    const { client, upstream } = open();
    const one = await client();
    one.send({ id: 99, result: {} });
    await one.ask('ping');
    expect(upstream.received.filter(({ id }) => id === 99)).toEqual([]);
  });

  it('ignores responses with a wrong id, responses that come twice and errors without an id', async () => {
    const { client, upstream } = open({
      onCall: ({ id, args }, fake) => {
        fake.send({ id: 'wrong', result: text('wrong') });
        fake.send({ id: null, error: { code: -32_603, message: 'not attributable' } });
        fake.send({ id, result: text(String(args['n'])) });
        fake.send({ id, result: text('twice') });
        return undefined;
      },
    });
    const one = await client();
    const before = one.received.length;
    const answers = await Promise.all([1, 2, 3].map((n) => one.call('get', { n })));
    expect(answers.map(({ result }) => result)).toEqual(['1', '2', '3'].map(text));
    await one.ask('ping');
    expect(one.received).toHaveLength(before + 4);
    expect(upstream.calls).toHaveLength(3);
  });

  it('refuses a second request with the id of one in flight, without settling the first', async () => {
    const { client, upstream } = open();
    const one = await client();
    const refused = one.next(({ error }) => error !== undefined);
    const first = one.ask('tools/call', { name: 'get', arguments: {} }, 50);
    await expect.poll(() => upstream.calls).toHaveLength(1);
    one.send({ id: 50, method: 'tools/call', params: { name: 'get', arguments: {} } });
    expect(await refused).toMatchObject({ id: 50, error: { code: -32_600 } });
    await first;
    expect(upstream.calls).toHaveLength(1);
  });

  it('forwards a cancellation of a read and does not answer it', async () => {
    const { client, upstream } = open();
    const one = await client();
    one.send({ id: 60, method: 'tools/call', params: { name: 'get', arguments: {} } });
    await expect.poll(() => upstream.calls).toHaveLength(1);
    one.send({ method: 'notifications/cancelled', params: { requestId: 60 } });
    await expect
      .poll(() => upstream.received.filter(({ method }) => method === 'notifications/cancelled'))
      .toMatchObject([{ params: { requestId: 60 } }]);
    upstream.send({ id: 60, result: text('late') });
    await one.ask('ping');
    expect(one.received.filter(({ id }) => id === 60)).toEqual([]);
  });

  it('passes progress on, and only increasing progress after a retry', async () => {
    const { client, upstream } = open({
      onCall: ({ args }, fake) => {
        const token = objectIn(fake.received.at(-1)?.params, '_meta')['progressToken'];
        const isFirst = fake.calls.length === 1;
        for (const progress of isFirst ? [1, 2] : [1, 2, 3]) {
          fake.send({
            method: 'notifications/progress',
            params: { progressToken: token, progress },
          });
        }
        if (isFirst) return fake.crash();
        return text(String(args['n']));
      },
    });
    const one = await client();
    await one.call('get', { n: 1 }, { _meta: { progressToken: 'mine' } });
    const seen = one.received.filter(({ method }) => method === 'notifications/progress');
    expect(seen.map(({ params }) => params)).toEqual(
      [1, 2, 3].map((progress) => ({ progressToken: 'mine', progress })),
    );
    expect(upstream.calls).toHaveLength(2);
  });

  it('refuses arguments that the schema of the server refuses, and sends nothing', async () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const { client, upstream } = open({ tools: [{ ...readTool, inputSchema }], onCall: echo });
    const one = await client();
    const refused = await one.call('get', { n: 'x' });
    expect(refused.result).toMatchObject({
      isError: true,
      structuredContent: {
        error: { code: 'validation_error', details: { issues: [{ field: 'n' }] } },
      },
    });
    expect(upstream.calls).toEqual([]);
    // The schema is open, so other arguments are accepted.
    expect((await one.call('get', { n: 1, other: true })).result).toEqual(
      text('{"n":1,"other":true}'),
    );
  });
});

describe('an upstream that is lost', () => {
  it('is started again, and a read is repeated', async () => {
    const { client, upstream } = open({
      onCall: ({ args }, fake) =>
        fake.calls.length === 1 ? fake.crash() : text(String(args['n'])),
    });
    const one = await client();
    const answered = await one.call('get', { n: 1 });
    expect(answered.result).toMatchObject({
      ...text('1'),
      _meta: { 'dev.toolkeel/guard': { retry_count: 1 } },
    });
    expect(upstream.starts()).toBe(2);
    const handshakes = upstream.received.filter(({ method }) => method === 'initialize');
    expect(handshakes).toHaveLength(2);
    expect(handshakes[1]?.params).toEqual(handshakes[0]?.params);
  });

  it('leaves the outcome of a mutation unknown, and never sends it again', async () => {
    const { client, upstream } = open({
      onCall: (_call, fake) => (fake.calls.length === 1 ? fake.crash() : text('executed')),
    });
    const one = await client();
    expect(envelopeOf(await one.call('add', { n: 1 })).error).toMatchObject({
      code: 'outcome_unknown',
      outcome: 'unknown',
    });
    expect(envelopeOf(await one.call('add', { n: 1 })).error.code).toBe('outcome_unknown');
    expect(upstream.calls).toHaveLength(1);
    expect((await one.call('add', { n: 2 })).result).toMatchObject(text('executed'));
  });

  it('answers a mutation that was never written as not executed', async () => {
    const { client, upstream } = open({
      config: { policy: { maxRetries: 0 } },
      onRequest: ({ method }, fake) => {
        if (method === 'resources/list') {
          fake.crash();
          return 'silent';
        }
        return method === 'initialize' && fake.starts() > 1 ? 'silent' : undefined;
      },
    });
    const one = await client();
    await expect.poll(() => rig.guard.tools).toHaveLength(2);
    void one.ask('resources/list');
    await expect.poll(() => upstream.starts()).toBe(2);
    const pending = one.call('add', { n: 1 });
    // The new server never completes its handshake.
    for (const start of [2, 3, 4]) {
      await expect.poll(() => upstream.starts()).toBe(start);
      upstream.crash();
    }
    expect(envelopeOf(await pending).error).toMatchObject({
      code: 'upstream_unavailable',
      outcome: 'not_executed',
    });
    expect(upstream.calls).toEqual([]);
  });

  it('repeats listings and refuses requests that may have had an effect', async () => {
    let crashes = 1;
    const { client } = open({
      onRequest: ({ method }, fake) => {
        if (method === 'resources/list' && crashes-- > 0) {
          fake.crash();
          return 'silent';
        }
        return method === 'custom/act' ? 'silent' : undefined;
      },
    });
    const one = await client();
    const act = one.ask('custom/act');
    const list = one.ask('resources/list');
    expect(await act).toMatchObject({ error: { code: 503 } });
    expect(await list).toMatchObject({ result: {} });
  });
});

describe('mutations', () => {
  it('are separate calls if they are equal and their connections live', async () => {
    const { client, upstream } = open({ onCall: (_call, fake) => text(String(fake.calls.length)) });
    const [one, two] = [await client(), await client()];
    await Promise.all([one.call('add'), one.call('add'), two.call('add')]);
    await one.call('add');
    expect(upstream.calls).toHaveLength(4);
  });

  it('return the first result to an equal call after a cancellation', async () => {
    const { client, upstream } = open();
    const one = await client();
    one.send({ id: 70, method: 'tools/call', params: { name: 'add', arguments: { n: 1 } } });
    await expect.poll(() => upstream.calls).toHaveLength(1);
    one.send({ method: 'notifications/cancelled', params: { requestId: 70 } });
    const repeated = one.call('add', { n: 1 });
    upstream.send({ id: 70, result: text('done') });
    const { result } = await repeated;
    expect(result?.['content']).toMatchObject([
      { text: expect.stringMatching(/^Not executed again/) as string },
      { text: 'done' },
    ]);
    expect(result?.['_meta']).toMatchObject({
      'dev.toolkeel/guard': { idempotency: { replayed: true } },
    });
    expect(upstream.calls).toHaveLength(1);
    expect(upstream.received.filter(({ method }) => method === 'notifications/cancelled')).toEqual(
      [],
    );
    // It is delivered now, so the next equal call is a new one.
    void one.call('add', { n: 1 });
    await expect.poll(() => upstream.calls).toHaveLength(2);
    upstream.send({ id: upstream.calls[1]!.id, result: text('again') });
  });

  it('return the first result to an equal call on a new connection', async () => {
    const { client, upstream } = open({ onCall: (_call, fake) => text(String(fake.calls.length)) });
    const one = await client();
    const before = upstream.calls.length;
    one.send({ id: 80, method: 'tools/call', params: { name: 'add', arguments: { n: 1 } } });
    one.breakConnection();
    const two = await client();
    const { result } = await two.call('add', { n: 1 });
    expect(upstream.calls.length - before).toBeLessThanOrEqual(1);
    expect(result?.['isError']).toBeUndefined();
  });

  it('replay an explicit key, and refuse it with other arguments', async () => {
    const { client, upstream } = open({ onCall: (_call, fake) => text(String(fake.calls.length)) });
    const one = await client();
    const _meta = { 'dev.toolkeel/idempotency-key': 'key-0123456789abcdef' };
    const first = await one.call('add', { n: 1 }, { _meta });
    const second = await one.call('add', { n: 1 }, { _meta });
    expect(first.result?.['content']).toEqual([{ type: 'text', text: '1' }]);
    expect(second.result?.['content']).toMatchObject([{}, { text: '1' }]);
    expect(envelopeOf(await one.call('add', { n: 2 }, { _meta })).error.code).toBe(
      'idempotency_conflict',
    );
    expect(upstream.calls).toHaveLength(1);
  });

  it('pass errors of the upstream on as they are', async () => {
    const failure = { ...text('no such file'), isError: true };
    const { client, upstream } = open({ onCall: () => failure });
    const one = await client();
    const { result } = await one.call('add', { n: 1 });
    expect(result).toMatchObject(failure);
    await one.call('add', { n: 1 });
    expect(upstream.calls).toHaveLength(2);
  });

  it('are executed once after an approval, without a client that waits', async () => {
    const { client, upstream, guard } = open({
      settings: { template: 'safe' },
      onCall: (_call, fake) => text(String(fake.calls.length)),
    });
    const one = await client();
    const { error } = envelopeOf(await one.call('add', { n: 1 }));
    expect(error).toMatchObject({ code: 'approval_required' });
    expect(upstream.calls).toEqual([]);
    const [pending] = await guard.journal.approvals.list();
    await guard.journal.approvals.approve(pending!.id, {
      by: 'test',
      hash: pending!.approval!.hash,
    });
    await expect.poll(() => upstream.calls).toMatchObject([{ name: 'add', args: { n: 1 } }]);
    await expect
      .poll(async () => (await one.call('add', { n: 1 })).result?.['content'])
      .toMatchObject([{}, { text: '1' }]);
    expect(upstream.calls).toHaveLength(1);
  });

  it('are settled by reading back if it is configured', async () => {
    const { client, upstream } = open({
      config: {
        tools: {
          add: {
            idempotencyArgument: 'request_id',
            reconcile: {
              tool: 'get',
              arguments: { q: 'title:{title}' },
              match: { title: '{title}' },
            },
          },
        },
      },
      onCall: ({ name, args }, fake) => {
        if (name === 'add') return fake.crash();
        const found = args['q'] === 'title:a' ? [{ id: 7, title: 'a' }] : [];
        return { content: [], structuredContent: { items: found } };
      },
    });
    const one = await client();
    const { result } = await one.call('add', { title: 'a' });
    expect(JSON.stringify(result?.['content'])).toContain('get returned');
    expect(result?.['isError']).toBeUndefined();
    expect(upstream.calls[0]?.args).toEqual({
      title: 'a',
      request_id: expect.stringMatching(/^op_/) as string,
    });
    expect(envelopeOf(await one.call('add', { title: 'b' })).error.code).toBe('outcome_unknown');
    expect(upstream.calls.filter(({ name }) => name === 'add')).toHaveLength(2);
  });

  it('are subject to the rules of the policy', async () => {
    const { client, upstream } = open({
      tools: [readTool, writeTool],
      settings: { blockedTools: ['add'] },
      onCall: () => text('done'),
    });
    const one = await client();
    expect(envelopeOf(await one.call('add')).error).toMatchObject({
      code: 'policy_denied_blocked',
      outcome: 'not_executed',
    });
    expect(upstream.calls).toEqual([]);
  });
});

it('retries a read whose error is known to be transient, then passes the error on', async () => {
  const limited = { ...text('Error: 503 Service Unavailable'), isError: true };
  const { client, upstream } = open({
    config: { policy: { initialBackoffMs: 1, maxBackoffMs: 1 } },
    onCall: ({ args }, fake) => {
      if (args['always'] === true) return limited;
      return fake.calls.length === 1 ? limited : text('ok');
    },
  });
  const one = await client();
  expect((await one.call('get')).result).toMatchObject(text('ok'));
  expect(upstream.calls).toHaveLength(2);
  expect((await one.call('get', { always: true })).result).toMatchObject(limited);
  expect(upstream.calls).toHaveLength(5);
});

it('answers equal reads from the cache for the configured time, each with its own id', async () => {
  const { client, upstream } = open({
    config: { tools: { get: { effect: 'read', cacheSecs: 60 } } },
    onCall: ({ args }) => ({ ...text(String(args['n'])), isError: args['n'] === 0 }),
  });
  const [one, two] = [await client(), await client()];
  for (const asking of [one, one, two]) {
    expect((await asking.call('get', { n: 1 })).result).toMatchObject(text('1'));
  }
  expect(upstream.calls).toHaveLength(1);
  await one.call('get', { n: 0 });
  await one.call('get', { n: 0 });
  expect(upstream.calls).toHaveLength(3);
});

it('redacts the secrets of the environment in results', async () => {
  const { client } = open({
    env: { API_TOKEN: 'tok-0123456789' },
    onRequest: ({ method }) =>
      method === 'resources/read' ? { contents: [{ text: 'tok-0123456789' }] } : undefined,
    onCall: () => text('the token is tok-0123456789'),
  });
  const one = await client();
  expect(JSON.stringify((await one.call('get')).result)).toContain('[redacted]');
  await one.ask('resources/read', { uri: 'a' });
  rig.upstream.send({ method: 'notifications/message', params: { data: 'tok-0123456789' } });
  expect(one.lines.join('\n')).not.toContain('tok-0123456789');
});

it('restarts an idle server that does not respond before a call needs it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  try {
    let isHung = false;
    const { client, upstream, guard, logs } = open({
      config: { healthCheckSecs: 30 },
      onRequest: ({ method }) => (isHung && method === 'ping' ? 'silent' : undefined),
      onCall: echo,
    });
    const one = await client();
    await one.call('get');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(upstream.received.filter(({ method }) => method === 'ping')).toHaveLength(1);
    expect(upstream.starts()).toBe(1);
    expect((await guard.metrics()).text).toContain('toolkeel_upstream_up{upstream="fake"} 1');
    isHung = true;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(upstream.starts()).toBe(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(upstream.starts()).toBe(2);
    expect(logs()).toContainEqual(
      expect.objectContaining({ event: 'upstream_lost', reason: 'does not respond' }),
    );
    isHung = false;
    expect(await one.call('get')).toMatchObject({ result: text('{}') });
  } finally {
    vi.useRealTimers();
  }
});

it('answers calls of a server that never started with the reason', async () => {
  const { client } = open({ config: { command: 'no-such-command-of-a-server' } });
  const one = await client();
  for (const name of ['get', 'add'])
    expect(envelopeOf(await one.call(name)).error).toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringContaining('ENOENT') as string,
      outcome: 'not_executed',
    });
});

it('ends with the mistake if a rule does not fit the tools of the server', async () => {
  const { client, guard } = open({ settings: { blockedTools: ['no_such_tool'] }, onCall: echo });
  const one = await client();
  await expect(guard.failed).rejects.toThrow(/no_such_tool/);
  expect(envelopeOf(await one.call('add')).error).toMatchObject({ code: 'policy_error' });
  expect(rig.upstream.calls).toEqual([]);
});

it('keeps its rules when the tools of the server change', async () => {
  const tools = [readTool, writeTool];
  const { client, upstream, logs } = open({
    tools,
    settings: { blockedTools: ['add'] },
    onCall: () => text('done'),
  });
  const one = await client();
  await one.call('get');
  tools.pop();
  tools.push({ ...writeTool, name: 'put' });
  upstream.send({ method: 'notifications/tools/list_changed' });
  await expect.poll(() => logs().map(({ event }) => event)).toContain('guard_rules_invalid');
  // The rules do not know the new tool, so it is not called.
  expect(envelopeOf(await one.call('put')).error.outcome).toBe('not_executed');
  expect(envelopeOf(await one.call('add')).error.code).toBe('policy_denied_blocked');
  expect(upstream.calls.map(({ name }) => name)).toEqual(['get']);
  expect((await one.call('get')).result).toEqual(text('done'));
});

it('serves stdin and stdout until the client leaves', async () => {
  const { guard } = open({ onCall: echo });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  stdout.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n').filter(Boolean)));
  const served = guard.stdio(new Promise(() => {}), { stdin, stdout } as never);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const messages = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'get', arguments: { a: 1 } } },
  ];
  // All at once: the calls have to wait for the handshake and the listing.
  stdin.write(`${messages.map((message) => JSON.stringify(message)).join('\n')}\nnot json\n`);
  await expect.poll(() => lines).toHaveLength(3);
  const answers = lines.map((line) => JSON.parse(line) as Message);
  expect(answers.find(({ id }) => id === 2)).toMatchObject({ result: text('{"a":1}') });
  expect(answers.find(({ id }) => id === null)).toMatchObject({ error: { code: -32_700 } });
  stdin.end();
  await served;
});

it('logs the effects of the tools and the reasons', async () => {
  const { client, logs, close } = open({
    config: { tools: { 'set_*': { effect: 'idempotent' } } },
    tools: [
      readTool,
      writeTool,
      { name: 'set_x' },
      { name: 'put', annotations: { idempotentHint: true } },
    ],
    onCall: echo,
  });
  await (await client()).call('get');
  await close();
  const entry = logs().find(({ event }) => event === 'guard_effects');
  expect(entry?.['tools']).toEqual([
    'get: read (readOnlyHint)',
    'add: once (no readOnlyHint)',
    'set_x: idempotent (configured)',
    'put: once (idempotentHint, which is not trusted)',
  ]);
});

it('rules apply to calls that follow a second, equal listing while they are compiled', async () => {
  let listings = 0;
  const { client: connect } = open({
    settings: {
      journal: { url: 'memory:' },
      rules: [{ name: 'none', when: { effect: 'read' }, action: 'deny' }],
    },
    onRequest: ({ method }, upstream) => {
      // The second listing is complete before the rules of the first are.
      if (method === 'tools/list' && ++listings === 1) {
        queueMicrotask(() => upstream.send({ method: 'notifications/tools/list_changed' }));
      }
      return undefined;
    },
    onCall: () => text('done'),
  });
  const client = await connect();
  await client.next(({ method }) => method === 'notifications/tools/list_changed');
  const [read, write] = await Promise.all([client.call('get'), client.call('add')]);
  expect(read.result?.['structuredContent']).toMatchObject({
    error: { code: 'policy_denied_user_rule' },
  });
  expect(write.result).toMatchObject(text('done'));
});
