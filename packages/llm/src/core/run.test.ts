import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ProviderError } from './errors.js';
import {
  answers,
  collect,
  errorOf,
  fails,
  overload,
  leftTimers,
  question,
  scripted,
  summary,
  text,
} from './scripted-provider.fixture.js';

describe('complete', () => {
  it('returns the text, the model and the number of attempts', async () => {
    const { model, clock } = scripted([[overload], [overload], answers('Because.')]);
    expect(await clock.run(model.complete(question))).toEqual({
      text: 'Because.',
      provider: 'scripted',
      model: 'model-1',
      finish: 'stop',
      toolCalls: [],
      attempts: 3,
    });
    // Half of the jitter: 2 to 4 s, then 2 to 8 s.
    expect(clock.now()).toBe(3_000 + 5_000);
  });

  it('gives up after three attempts with everything that is known', async () => {
    const { model, clock, requests } = scripted([['connected', 'headers', text('Bec'), overload]]);
    const error = await clock.run(errorOf(model.complete(question)));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({
      name: 'ProviderError',
      provider: 'scripted',
      code: 'overloaded',
      phase: 'stream',
      status: 529,
      retriable: true,
      attempts: 3,
      partialText: 'Bec',
      message: 'scripted failure (HTTP 529) after 3 attempts.',
    });
    expect(requests).toHaveLength(3);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: 'overloaded', attempts: 3 });
  });

  it.for([
    ['auth', { kind: 'auth', status: 401 }],
    ['billing', { kind: 'rejected', final: true, status: 402 }],
    ['invalid_request', { kind: 'rejected', status: 400 }],
    ['quota_exhausted', { kind: 'rate_limited', final: true, status: 429 }],
  ] as const)('does not retry %s', async ([code, fault]) => {
    const { model, clock, requests } = scripted([[fails(code, fault)]]);
    const error = await clock.run(errorOf(model.complete(question)));
    expect(error).toMatchObject({ code, retriable: false, attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  it('waits exactly as long as the server asks for', async () => {
    const limited = fails('rate_limited', { kind: 'rate_limited', retryAfterMs: 7_250 });
    const { model, clock, requests } = scripted([[limited], answers('ok')]);
    await clock.run(model.complete(question));
    expect(requests.map(({ at }) => at)).toEqual([0, 7_250]);
  });

  it('fails at once if the wait would pass the deadline, with the wait', async () => {
    const limited = fails('rate_limited', { kind: 'rate_limited', retryAfterMs: 60_000 });
    const { model, clock } = scripted([[limited], answers('ok')]);
    const error = await clock.run(errorOf(model.complete(question, { deadline: 30_000 })));
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 60_000, attempts: 1 });
    expect(clock.now()).toBe(0);
  });

  it('keeps the reason of a cancelled call and ends the attempt', async () => {
    const { model, clock, requests } = scripted([['connected', 'hang']]);
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    clock.setTimer(500, () => controller.abort(reason));
    const error = await clock.run(errorOf(model.complete(question, { signal: controller.signal })));
    expect(error).toMatchObject({ code: 'cancelled', cause: reason, phase: 'headers' });
    expect(requests[0]?.aborted).toBe(true);
    expect(await leftTimers(clock)).toBe(0);
  });

  it('cancels during a backoff', async () => {
    const { model, clock, requests } = scripted([[overload]]);
    const controller = new AbortController();
    clock.setTimer(500, () => controller.abort());
    const error = await clock.run(errorOf(model.complete(question, { signal: controller.signal })));
    expect(error).toMatchObject({ code: 'cancelled', phase: 'backoff' });
    expect([clock.now(), requests.length, clock.pending]).toEqual([500, 1, 0]);
  });
});

describe('stream', () => {
  it('retries freely before the first content', async () => {
    const broken = ['connected', 'headers', fails('network', { kind: 'network' })] as const;
    const { model, clock } = scripted([broken, answers('Because.')]);
    const events = await collect(model.stream(question), clock);
    expect(summary(events)).toEqual([
      'start',
      'retry@3000:network',
      'start',
      'content:Because.',
      'done',
    ]);
  });

  it('resets thinking that it has shown', async () => {
    const thought = { type: 'thinking', text: 'Hm.' } as const;
    const broken = ['headers', thought, fails('network', { kind: 'network' })] as const;
    const { model, clock } = scripted([broken, answers('Because.')]);
    const events = summary(await collect(model.stream(question), clock));
    expect(events).toEqual([
      'start',
      'thinking:Hm.',
      'retry@3000:network',
      'reset',
      'start',
      'content:Because.',
      'done',
    ]);
  });

  const cut = ['headers', text('Because it '), fails('network', { kind: 'network' })] as const;

  it('ends with the partial text after the first content', async () => {
    const { model, clock, requests } = scripted([cut, answers('is.')]);
    const events = await collect(model.stream(question), clock);
    expect(summary(events)).toEqual(['start', 'content:Because it ', 'error:network']);
    expect(events.at(-1)).toMatchObject({
      error: { partialText: 'Because it ', phase: 'stream', retriable: true },
    });
    expect(requests).toHaveLength(1);
  });

  it('restarts if asked to', async () => {
    const { model, clock } = scripted([cut, answers('Because it is.')]);
    const events = await collect(model.stream(question, { recovery: 'restart' }), clock);
    expect(summary(events)).toEqual([
      'start',
      'content:Because it ',
      'retry@3000:network',
      'reset',
      'start',
      'content:Because it is.',
      'done',
    ]);
    expect(events.at(-1)).toMatchObject({ completion: { text: 'Because it is.', attempts: 2 } });
  });

  it('continues if asked to', async () => {
    const { model, clock, requests } = scripted([cut, answers('is.')]);
    const events = await collect(model.stream(question, { recovery: 'continue' }), clock);
    expect(summary(events)).not.toContain('reset');
    expect(events.at(-1)).toMatchObject({ completion: { text: 'Because it is.' } });
    expect(requests[1]?.request.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'Because it ' },
      { role: 'user', content: expect.stringContaining('Continue') },
    ]);
  });

  it('does not continue after a tool call', async () => {
    const call = { type: 'tool_call', id: '1', name: 'look', arguments: {} } as const;
    const broken = ['headers', call, fails('network', { kind: 'network' })] as const;
    const { model, clock } = scripted([broken, answers('is.')]);
    const events = await collect(model.stream(question, { recovery: 'continue' }), clock);
    expect(summary(events)).toEqual(['start', 'tool_call', 'error:network']);
  });

  it('treats a provider that begins again like a broken stream', async () => {
    const again = ['headers', text('Hello '), { type: 'restarted' }, ...answers('Hello')] as const;
    const failing = scripted([again]);
    const events = await collect(failing.model.stream(question), failing.clock);
    expect(summary(events)).toEqual(['start', 'content:Hello ', 'error:incomplete_stream']);
    const restarting = scripted([again]);
    const stream = restarting.model.stream(question, { recovery: 'restart' });
    const last = (await collect(stream, restarting.clock)).at(-1);
    expect(last).toMatchObject({ type: 'done', completion: { text: 'Hello', attempts: 1 } });
  });

  it('cancels the request when the consumer leaves', async () => {
    const { model, clock, requests } = scripted([['headers', text('a'), 'hang']]);
    for await (const event of model.stream(question)) if (event.type === 'content') break;
    await clock.advance(0);
    expect(requests[0]?.aborted).toBe(true);
    expect(await leftTimers(clock)).toBe(0);
  });

  it('does not count the time of a slow consumer', async () => {
    const { model, clock } = scripted([answers('a')], { timeouts: { contentIdleMs: 100 } });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of model.stream(question)) {
        seen.push(event.type);
        await new Promise<void>((resolve) => clock.setTimer(10_000, resolve));
      }
    })();
    await clock.run(reading);
    expect(seen).toEqual(['start', 'content', 'done']);
  });

  it('reports a signal that is already aborted', async () => {
    const { model, clock, requests } = scripted([answers('a')]);
    const stream = model.stream(question, { signal: AbortSignal.abort() });
    expect(summary(await collect(stream, clock))).toEqual(['error:cancelled']);
    expect(requests).toHaveLength(0);
  });
});

describe('a request', () => {
  it('without messages is refused before anything is sent', async () => {
    const { model, clock, requests } = scripted([answers('a')]);
    const error = await clock.run(errorOf(model.complete({ messages: [] })));
    expect(error).toMatchObject({ code: 'invalid_request', attempts: 0 });
    expect(requests).toHaveLength(0);
  });

  it.for([
    ['none', undefined],
    ['null', null],
    ['a text', 'Why?'],
    ['without messages', {}],
    ['with a text as messages', { messages: 'Why?' }],
    ['with an empty message', { messages: [null] }],
    ['with a message without content', { messages: [{ role: 'user' }] }],
  ] as const)(
    'that is %s ends a stream with a typed error instead of hanging',
    async ([, wrong]) => {
      const { model, clock, requests } = scripted([answers('a')]);
      const events = await collect(model.stream(wrong as never), clock);
      expect(summary(events)).toEqual(['error:invalid_request']);
      const error = await clock.run(errorOf(model.complete(wrong as never)));
      expect(error).toMatchObject({ code: 'invalid_request', retriable: false, attempts: 0 });
      expect(requests).toHaveLength(0);
      expect(await model.health()).toMatchObject([{ state: 'healthy' }]);
    },
  );

  it('many at once with one signal add one listener', async () => {
    const { model, clock } = scripted([['headers', 'hang']]);
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 20 }, () => errorOf(model.complete(question, { signal })));
    const streams = Array.from({ length: 20 }, () =>
      collect(model.stream(question, { signal }), clock),
    );
    await clock.advance(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort();
    await clock.run(Promise.all([...calls, ...streams]));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('close', () => {
  it.for([
    ['an attempt', [['headers', 'hang']]],
    ['a backoff', [[overload]]],
  ] as const)('ends a request in the middle of %s, without another attempt', async ([, script]) => {
    const { model, clock, requests } = scripted(script);
    clock.setTimer(500, () => void model.close());
    const error = await clock.run(errorOf(model.complete(question)));
    expect(error).toMatchObject({
      code: 'cancelled',
      retriable: false,
      message: 'The model scripted is closed.',
    });
    expect([clock.now(), requests.length]).toEqual([500, 1]);
    expect(await leftTimers(clock)).toBe(0);
    expect(summary(await collect(model.stream(question), clock))).toEqual(['error:cancelled']);
    expect(await errorOf(model.models())).toMatchObject({ code: 'cancelled' });
    expect(requests).toHaveLength(1);
  });
});
