import type { FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import {
  ask,
  asked,
  claudeOf,
  errorOf,
  eventsOf,
  expectNoChildren,
  realCli,
  sandboxOf,
} from './support/rig.js';

describe('Claude', () => {
  it('answers with usage, cost and the model that answered', async () => {
    const model = claudeOf(await sandboxOf());
    const completion = await model.complete({ ...ask(), system: 'Be short.' });
    expect(completion).toMatchObject({
      text: expect.stringMatching(/^You asked: Why is the sky blue\? .* carry\.$/),
      provider: 'claude',
      model: expect.stringContaining('sonnet'),
      finish: 'stop',
      attempts: 1,
      usage: { inputTokens: 5, costUsd: expect.any(Number) },
      requestId: expect.any(String),
    });
    await expectNoChildren();
  });

  it('streams', async () => {
    const model = claudeOf(await sandboxOf({ tokenDelayMs: 5 }));
    const events = await eventsOf(model.stream({ ...ask(), thinking: 'off' }));
    const types = events.map(({ type }) => type);
    expect([...new Set(types)].filter((type) => type !== 'thinking')).toEqual([
      'start',
      'content',
      'usage',
      'done',
    ]);
    expect(types.filter((type) => type === 'content').length).toBeGreaterThan(3);
  });

  it('passes images, history and JSON schemas', async () => {
    const model = claudeOf(await sandboxOf());
    const image = { type: 'image', mediaType: 'image/png', data: PIXEL } as const;
    const seen = await model.complete({
      messages: [
        { role: 'user', content: 'My name is Ada.' },
        { role: 'assistant', content: 'Hello Ada.' },
        { role: 'user', content: [image, { type: 'text', text: 'Look' }] },
      ],
    });
    expect(seen.text).toMatch(/^You asked: Look I see 1 image/);
    const responseSchema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
    };
    const structured = await model.complete({ ...ask(), responseSchema });
    expect(JSON.parse(structured.text)).toEqual({ answer: expect.any(String) });
    expect(structured.finish).toBe('stop');
  });

  it.for<readonly [FaultRule['kind'], string, object]>([
    ['http-500', 'server_error', { status: 500 }],
    ['http-529', 'overloaded', { status: 529 }],
    // The CLI itself hides the error inside a stream behind a repetition, which is ended.
    [
      'llm-error-event',
      realCli === undefined ? 'overloaded' : 'incomplete_stream',
      { partialText: expect.stringMatching(/^You/) },
    ],
    ['llm-no-finish', '', {}],
    ['half-body', '', {}],
  ])('recovers from %s, and reports it if it lasts', async ([kind, code, facts]) => {
    const sandbox = await sandboxOf({ faults: [{ kind, times: 2, routes: ['messages'] }] });
    const model = claudeOf(sandbox);
    const expected = { finish: 'stop', text: expect.stringMatching(/^You asked: Why is the sky/) };
    const { attempts, ...completion } = await model.complete(ask());
    expect(completion).toMatchObject(expected);
    // The CLI may have repeated a broken request before it was ended, which used up a fault.
    const mayRepeat = realCli !== undefined && !String(kind).startsWith('http-');
    if (!mayRepeat) expect([attempts, asked(sandbox)]).toEqual([3, 3]);
    sandbox.setFaults([{ kind, routes: ['messages'] }]);
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ provider: 'claude', retriable: true, attempts: 3, ...facts });
    if (code !== '') expect(error.code).toBe(code);
    if (!mayRepeat) expect(asked(sandbox)).toBe(6);
    await expectNoChildren();
  });

  it.for<readonly [FaultRule, string, object]>([
    [{ kind: 'http-400' }, 'invalid_request', { status: 400 }],
    [{ kind: 'http-401' }, 'auth', {}],
    [{ kind: 'http-403' }, 'auth', {}],
    [{ kind: 'llm-billing' }, 'billing', {}],
  ])('does not repeat %j', async ([rule, code, facts]) => {
    const sandbox = await sandboxOf({ faults: [{ ...rule, routes: ['messages'] }] });
    const error = await errorOf(claudeOf(sandbox).complete(ask()));
    expect(error).toMatchObject({ code, retriable: false, attempts: 1, ...facts });
    // The CLI asks once more when the API refuses its login, which it may have to renew.
    expect(asked(sandbox)).toBe(rule.kind === 'http-401' ? 2 : 1);
  });

  it('reports when the limit of a plan resets, and asks nothing before', async () => {
    const rule = { kind: 'llm-429-plan', retryAfter: { seconds: 7_200 } } as const;
    const sandbox = await sandboxOf({ faults: [{ ...rule, routes: ['messages'] }] });
    const model = claudeOf(sandbox);
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, attempts: 1 });
    expect(error.retryAfterMs).toBeGreaterThan(7_000_000);
    expect(error.retryAfterMs).toBeLessThan(7_205_000);
    expect(await errorOf(model.complete(ask()))).toMatchObject({
      code: 'cooling_down',
      attempts: 0,
    });
    expect(asked(sandbox)).toBe(1);
  });

  it('never passes an API key on', async () => {
    const sandbox = await sandboxOf();
    const env = {
      ...process.env,
      ANTHROPIC_API_KEY: 'sk-ant-must-not-leak',
      ANTHROPIC_AUTH_TOKEN: 'must-not-leak-either',
    };
    expect(await claudeOf(sandbox, { env }).complete(ask())).toMatchObject({ finish: 'stop' });
    const { headers } = sandbox.log().find(({ route }) => route === 'messages')!;
    expect(headers).toContain('authorization');
    expect(headers).not.toContain('x-api-key');
  });

  it('ends a process whose upstream does not answer', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'stall', routes: ['messages'] }] });
    const options = { timeouts: { totalMs: 3_000 }, policy: { maxRetries: 0 } };
    const error = await errorOf(claudeOf(sandbox, options).complete(ask()));
    expect(error).toMatchObject({ code: 'timeout', clock: 'total', phase: 'headers' });
    await expectNoChildren();
  });

  it('ends the process when the consumer leaves', async () => {
    const sandbox = await sandboxOf({
      faults: [{ kind: 'llm-stall-mid-stream', routes: ['messages'] }],
    });
    for await (const event of claudeOf(sandbox).stream(ask())) if (event.type === 'content') break;
    await expectNoChildren();
  });

  it('ends an answer at the requested length', async () => {
    const sandbox = await sandboxOf();
    const completion = await claudeOf(sandbox).complete({ ...ask(), maxOutputTokens: 5 });
    expect(completion).toMatchObject({ finish: 'length', text: 'You asked: Why is the ' });
    await expectNoChildren();
  });

  it('leaves calls of tools to the caller, who answers with their results', async () => {
    const sandbox = await sandboxOf();
    const model = claudeOf(sandbox);
    const called = await model.complete({ ...ask('sky'), tools: [LOOK_UP] });
    expect(called).toMatchObject({
      finish: 'tool_calls',
      text: '',
      toolCalls: [{ type: 'tool_call', name: 'look_up', arguments: { query: 'sky' } }],
      usage: { costUsd: expect.any(Number) },
    });
    expect(asked(sandbox)).toBe(1);
    const [call] = called.toolCalls;
    const result = {
      type: 'tool_result',
      callId: call!.id,
      name: 'look_up',
      content: 'blue',
    } as const;
    const messages = [
      { role: 'user', content: 'sky' },
      { role: 'assistant', content: [call!] },
      { role: 'user', content: [result] },
    ] as const;
    const answered = await model.complete({ tools: [LOOK_UP], messages });
    expect(answered).toMatchObject({ finish: 'stop', text: expect.stringContaining('blue') });
    await expectNoChildren();
  });

  it('refuses what the CLI cannot do instead of ignoring it', async () => {
    const sandbox = await sandboxOf();
    const model = claudeOf(sandbox);
    for (const unusable of [{ temperature: 0 }, { tools: [LOOK_UP], responseSchema: {} }]) {
      const error = await errorOf(model.complete({ ...ask(), ...unusable }));
      expect(error).toMatchObject({ code: 'unsupported', retriable: false, attempts: 0 });
    }
    expect(sandbox.log()).toEqual([]);
  });

  it('reports its health and its models without a completion', async () => {
    const sandbox = await sandboxOf();
    const model = claudeOf(sandbox);
    expect(await model.health()).toMatchObject([{ state: 'healthy', provider: 'claude' }]);
    expect((await model.models()).length).toBeGreaterThan(1);
    expect(asked(sandbox)).toBe(0);
    await expectNoChildren();
  });

  it('says how to install what is missing', async () => {
    const missing = claudeOf(await sandboxOf(), { cliPath: '/nowhere/claude' });
    expect(await errorOf(missing.complete(ask()))).toMatchObject({
      code: 'not_configured',
      attempts: 0,
      message: expect.stringContaining('not at /nowhere/claude'),
    });
  });
});

const LOOK_UP = {
  name: 'look_up',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { query: { type: 'string' } } },
};

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
