import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gemini } from '@toolkeel/llm';
import type { FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { ask, asked, errorOf, eventsOf, geminiOf, sandboxOf } from './support/rig.js';

describe.for([
  ['streaming', false],
  ['unary', true],
] as const)('Gemini, %s', ([, unary]) => {
  it('answers with usage, cost and the model that answered', async () => {
    const sandbox = await sandboxOf();
    const prices = { 'gemini-2.5-flash': { input: 0.5, output: 3 } };
    const model = geminiOf(sandbox, { unary, prices });
    const completion = await model.complete({ ...ask(), system: 'Be short.', thinking: 'low' });
    expect(completion).toMatchObject({
      text: expect.stringMatching(/^You asked: Why is the sky blue\? .* carry\.$/),
      thinking: expect.stringContaining('simple'),
      provider: 'gemini',
      model: 'gemini-2.5-flash',
      finish: 'stop',
      attempts: 1,
      requestId: 'gemini-1',
    });
    const { inputTokens = 0, outputTokens = 0, costUsd } = completion.usage ?? {};
    expect(costUsd).toBeCloseTo((inputTokens * 0.5 + outputTokens * 3) / 1e6, 12);
  });

  it('passes images, tools, tool results, JSON schemas and limits', async () => {
    const model = geminiOf(await sandboxOf(), { unary });
    const image = { type: 'image', mediaType: 'image/png', data: 'aGk=' } as const;
    const text = { type: 'text', text: 'Look' } as const;
    const seen = await model.complete({ messages: [{ role: 'user', content: [text, image] }] });
    expect(seen.text).toContain('I see 1 image');
    const tool = {
      name: 'look_up',
      description: 'Looks something up.',
      parameters: { type: 'object', properties: { query: { type: 'string' } } },
    };
    const called = await model.complete({ ...ask('sky'), tools: [tool] });
    expect(called).toMatchObject({
      finish: 'tool_calls',
      toolCalls: [{ name: 'look_up', arguments: { query: 'sky' } }],
    });
    const [call] = called.toolCalls;
    const answered = await model.complete({
      tools: [tool],
      messages: [
        { role: 'user', content: 'sky' },
        { role: 'assistant', content: [call!] },
        {
          role: 'user',
          content: [{ type: 'tool_result', callId: call!.id, name: call!.name, content: 'blue' }],
        },
      ],
    });
    expect(answered.finish).toBe('stop');
    const responseSchema = { type: 'object', properties: { answer: { type: 'string' } } };
    const structured = await model.complete({ ...ask(), responseSchema });
    expect(JSON.parse(structured.text)).toEqual({ answer: expect.stringContaining('sky') });
  });

  it.for<readonly [FaultRule['kind'], FaultRule | object, string, object]>([
    ['http-500', {}, 'server_error', { status: 500, phase: 'headers' }],
    ['http-503', {}, 'server_error', { status: 503 }],
    ['http-529', {}, 'overloaded', { status: 529 }],
    ['http-408', {}, 'timeout', { status: 408 }],
    ['http-409', {}, 'server_error', { status: 409 }],
    ['reset-after-read', {}, 'network', {}],
    ['close-after-read', {}, 'network', {}],
    ['half-body', {}, 'network', {}],
    ['garbage', {}, '', {}],
    ['llm-error-event', {}, 'server_error', { status: 503 }],
    ['llm-no-finish', {}, 'incomplete_stream', {}],
    ['http-429', { retryAfter: { seconds: 0 } }, 'rate_limited', { status: 429 }],
    ['llm-429-retry-after-ms', {}, 'rate_limited', { retryAfterMs: 100 }],
    ['llm-429-retry-info', {}, 'rate_limited', { retryAfterMs: 100 }],
  ])('recovers from %s, and reports it if it lasts', async ([kind, rule, code, facts]) => {
    const sandbox = await sandboxOf();
    const model = geminiOf(sandbox, { unary });
    sandbox.setFaults([{ ...rule, kind, times: 2 }]);
    expect(await model.complete(ask())).toMatchObject({ finish: 'stop', attempts: 3 });
    sandbox.setFaults([{ ...rule, kind }]);
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ provider: 'gemini', retriable: true, attempts: 3, ...facts });
    if (code !== '') expect(error.code).toBe(code);
    expect(asked(sandbox)).toBe(6);
  });

  it.for<readonly [FaultRule['kind'], string, object]>([
    ['http-400', 'invalid_request', { status: 400 }],
    ['http-401', 'auth', { status: 401 }],
    ['http-403', 'auth', { status: 403 }],
    ['http-404', 'invalid_request', { status: 404 }],
    ['llm-429-day', 'quota_exhausted', { status: 429 }],
    ['llm-429-no-retry', 'rate_limited', { status: 429 }],
    ['llm-billing', 'billing', { status: 403 }],
    ['llm-blocked', 'blocked', {}],
  ])('does not repeat %s', async ([kind, code, facts]) => {
    const sandbox = await sandboxOf({ faults: [{ kind }] });
    const error = await errorOf(geminiOf(sandbox, { unary }).complete(ask()));
    expect(error).toMatchObject({ code, retriable: false, attempts: 1, ...facts });
    expect(asked(sandbox)).toBe(1);
  });
});

describe('a Gemini stream', () => {
  it('emits its events in order', async () => {
    const model = geminiOf(await sandboxOf({ tokenDelayMs: 1 }));
    const types = (await eventsOf(model.stream(ask()))).map(({ type }) => type);
    expect([...new Set(types)]).toEqual(['start', 'content', 'usage', 'done']);
    expect(types.filter((type) => type === 'content').length).toBeGreaterThan(3);
  });

  it('begins with a response, not with an error', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'http-503', times: 1 }] });
    const types = (await eventsOf(geminiOf(sandbox).stream(ask()))).map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(['retry', 'start', 'content']);
  });

  it('that is cut mid-way ends with the partial text, or begins again', async () => {
    const sandbox = await sandboxOf();
    const model = geminiOf(sandbox);
    sandbox.setFaults([{ kind: 'llm-error-event', times: 1 }]);
    const failed = (await eventsOf(model.stream(ask()))).at(-1);
    expect(failed).toMatchObject({
      type: 'error',
      error: { code: 'server_error', partialText: expect.stringMatching(/^You asked/) },
    });
    sandbox.setFaults([{ kind: 'llm-error-event', times: 1 }]);
    const events = await eventsOf(model.stream(ask(), { recovery: 'restart' }));
    const types = events.map(({ type }) => type);
    expect(types.slice(types.indexOf('retry'), types.indexOf('retry') + 3)).toEqual([
      'retry',
      'reset',
      'start',
    ]);
    const seen = events
      .slice(types.indexOf('reset'))
      .flatMap((event) => (event.type === 'content' ? [event.text] : []));
    const last = events.at(-1);
    expect(last?.type === 'done' && last.completion.text).toBe(seen.join(''));
  });

  it('ends its request when the consumer leaves', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'llm-stall-mid-stream' }] });
    for await (const event of geminiOf(sandbox).stream(ask())) if (event.type === 'content') break;
    await expect.poll(() => sandbox.log()[0]?.outcome).toBe('client-left');
  });
});

it('Gemini reads a body that drips, and an empty list of tools is none', async () => {
  for (const tokenDelayMs of [0, 2]) {
    const sandbox = await sandboxOf({ tokenDelayMs, faults: [{ kind: 'drip', dripMs: 100 }] });
    const events = await eventsOf(geminiOf(sandbox).stream({ ...ask(), tools: [] }));
    expect(events.at(-1)).toMatchObject({ type: 'done', completion: { attempts: 1 } });
    expect(sandbox.asked()[0]).not.toHaveProperty('tools');
  }
});

describe('the key of Gemini', () => {
  it('comes from the environment or from a private file', async () => {
    const sandbox = await sandboxOf();
    const folder = mkdtempSync(join(tmpdir(), 'toolkeel-key-'));
    const file = join(folder, 'key');
    try {
      writeFileSync(file, `${sandbox.apiKey}\n`, { mode: 0o600 });
      expect(await geminiOf(sandbox, { apiKey: { file } }).complete(ask())).toBeTruthy();
      chmodSync(file, 0o644);
      const open = await errorOf(geminiOf(sandbox, { apiKey: { file } }).complete(ask()));
      expect(open).toMatchObject({ code: 'not_configured', attempts: 0 });
      expect(open.message).toMatch(/readable by other users; set its mode to 600/);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const none = await errorOf(gemini({ env: {} }).complete(ask()));
    expect(none.message).toMatch(/no API key. Set TOOLKEEL_GEMINI_API_KEY/);
  });

  it('never appears in an error', async () => {
    const sandbox = await sandboxOf();
    const model = geminiOf(sandbox, { env: { KEY: 'wrong-secret-key' } });
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'auth', status: 400 });
    const { inspect } = await import('node:util');
    expect(inspect(error, { depth: 10 })).not.toContain('wrong-secret-key');
  });
});

it('Gemini reports its health without a completion', async () => {
  const sandbox = await sandboxOf();
  const model = geminiOf(sandbox);
  expect(await model.health()).toMatchObject([{ state: 'healthy' }]);
  expect((await model.models()).map(({ id }) => id)).toEqual(sandbox.models);
  expect(asked(sandbox)).toBe(0);
  const wrong = geminiOf(sandbox, { env: { KEY: 'wrong' } });
  expect(await wrong.health()).toMatchObject([{ state: 'down', advice: expect.any(String) }]);
  const failing = geminiOf(sandbox);
  sandbox.setFaults([{ kind: 'http-503' }]);
  expect(await failing.health()).toMatchObject([{ state: 'degraded' }]);
  expect(await failing.health()).toMatchObject([{ state: 'down' }]);
});
