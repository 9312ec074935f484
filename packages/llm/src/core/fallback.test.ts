import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { fallback } from './model.js';
import {
  answers,
  collect,
  errorOf,
  fails,
  overload,
  question,
  scripted,
  summary,
  text,
  type Step,
} from './scripted-provider.fixture.js';

function pair(
  first: readonly (readonly Step[])[],
  second: readonly (readonly Step[])[],
  options: Parameters<typeof fallback>[1] = {},
) {
  const clock = new VirtualClock();
  const a = scripted(first, { clock, name: 'a' });
  const b = scripted(second, { clock, name: 'b' });
  return { clock, a, b, model: fallback([a.model, b.model], options) };
}

const limited = (retryAfterMs: number) =>
  fails('rate_limited', { kind: 'rate_limited', status: 429, retryAfterMs });

describe('a chain', () => {
  it('asks the next model when the first is exhausted', async () => {
    const { model, clock, a, b } = pair([[overload]], [answers('from b')]);
    const completion = await clock.run(model.complete(question));
    expect(completion).toMatchObject({ text: 'from b', provider: 'b', attempts: 4 });
    expect([a.requests.length, b.requests.length]).toEqual([3, 1]);
  });

  it('does the same for streams, before the first content', async () => {
    const { model, clock } = pair([[fails('auth', { kind: 'auth' })]], [answers('from b')]);
    const events = await collect(model.stream(question), clock);
    expect(summary(events)).toEqual(['retry@0:auth', 'start', 'content:from b', 'done']);
  });

  it('does not mix two answers', async () => {
    const cut = ['headers', text('from a'), fails('network', { kind: 'network' })] as const;
    const { model, clock, b } = pair([cut], [answers('from b')]);
    const events = summary(await collect(model.stream(question), clock));
    expect(events).toEqual(['start', 'content:from a', 'error:network']);
    expect(b.requests).toHaveLength(0);
  });

  it('restarts at the next model if asked to', async () => {
    const cut = ['headers', text('from a'), fails('auth', { kind: 'auth' })] as const;
    const { model, clock } = pair([cut], [answers('from b')]);
    const events = summary(await collect(model.stream(question, { recovery: 'restart' }), clock));
    expect(events).toEqual([
      'start',
      'content:from a',
      'retry@0:auth',
      'reset',
      'start',
      'content:from b',
      'done',
    ]);
  });

  it.for([
    ['invalid_request', { kind: 'rejected', status: 400 }],
    ['blocked', { kind: 'rejected', final: true }],
    ['internal', { kind: 'unexpected' }],
  ] as const)('does not ask another model after %s', async ([code, fault]) => {
    const { model, clock, b } = pair([[fails(code, fault)]], [answers('from b')]);
    expect(await clock.run(errorOf(model.complete(question)))).toMatchObject({ code });
    expect(b.requests).toHaveLength(0);
  });

  it('asks only the provider of a named model', async () => {
    const { model, clock, a } = pair([answers('from a')], [answers('from b')]);
    const completion = await clock.run(model.complete({ ...question, model: 'b-large' }));
    expect(completion).toMatchObject({ provider: 'b' });
    expect(a.requests).toHaveLength(0);
    // No provider knows it: the first one decides.
    await clock.run(model.complete({ ...question, model: 'unheard-of' }));
    expect(a.requests[0]?.request.model).toBe('unheard-of');
  });

  it('asks the next model at once while the circuit of the first is open', async () => {
    const dead = [['connected', fails('network', { kind: 'network' })]] as const;
    const { model, clock, a } = pair(dead, [answers('from b')]);
    while (a.model.channels[0]?.upstream.circuit !== 'open') {
      await clock.run(model.complete(question));
    }
    const [sent, startedAt] = [a.requests.length, clock.now()];
    expect(await clock.run(model.complete(question))).toMatchObject({ provider: 'b', attempts: 1 });
    expect([a.requests.length, clock.now()]).toEqual([sent, startedAt]);
  });

  it('does not wait for a model while another is left', async () => {
    const { model, clock } = pair([[limited(60_000)]], [answers('from b')]);
    await clock.run(model.complete(question));
    expect(clock.now()).toBe(0);
  });

  it('asks a model that cools down last, until its reset', async () => {
    const { model, clock, a, b } = pair(
      [[limited(60_000)], answers('from a')],
      [answers('from b')],
    );
    await clock.run(model.complete(question));
    await clock.run(model.complete(question));
    expect([a.requests.length, b.requests.length]).toEqual([1, 2]);
    await clock.advance(60_000);
    expect(await clock.run(model.complete(question))).toMatchObject({ provider: 'a' });
  });

  it('waits for the earliest reset if all cool down', async () => {
    const { model, clock } = pair(
      [[limited(90_000)], answers('from a')],
      [[limited(60_000)], answers('from b')],
      { maxWaitMs: 0 },
    );
    const completion = await clock.run(model.complete(question));
    expect(completion).toMatchObject({ provider: 'b' });
    expect(clock.now()).toBe(60_000);
  });

  it('waits for the earliest reset if all cool down already when it begins', async () => {
    const { model, clock, a, b } = pair(
      [[limited(90_000)], answers('from a')],
      [[limited(60_000)], answers('from b')],
    );
    const first = model.complete(question);
    await clock.advance(1_000);
    const completions = await clock.run(Promise.all([first, model.complete(question)]));
    expect(completions).toMatchObject([{ provider: 'b' }, { provider: 'b' }]);
    expect([clock.now(), a.requests.length, b.requests.length]).toEqual([60_000, 1, 3]);
  });

  it.for([
    ['not_configured', { kind: 'rejected', final: true }],
    ['billing', { kind: 'rejected', final: true, status: 402 }],
    ['unsupported', { kind: 'rejected' }],
  ] as const)('asks the next model after %s', async ([code, fault]) => {
    const { model, clock } = pair([[fails(code, fault)]], [answers('from b')]);
    expect(await clock.run(model.complete(question))).toMatchObject({ provider: 'b', attempts: 2 });
  });

  it.for([
    ['quota_exhausted', { kind: 'rate_limited', final: true, status: 429 }],
    ['auth', { kind: 'auth', status: 401 }],
    ['billing', { kind: 'rejected', final: true, status: 402 }],
  ] as const)(
    'asks a model last for a minute after %s, or until it answers',
    async ([code, fault]) => {
      const { model, clock, a } = pair(
        [[fails(code, fault)], [fails(code, fault)], answers('from a')],
        [answers('from b')],
      );
      await clock.run(model.complete(question));
      await clock.advance(59_000);
      await clock.run(model.complete(question));
      expect(a.requests).toHaveLength(1);
      await clock.advance(1_000);
      await clock.run(model.complete(question));
      expect(a.requests).toHaveLength(2);
      // Asked by name, it answers: the chain prefers it again.
      await clock.run(model.complete({ ...question, model: 'a-large' }));
      expect(await clock.run(model.complete(question))).toMatchObject({ provider: 'a' });
    },
  );

  it('has one deadline', async () => {
    const hang = ['connected', 'hang'] as const;
    const { model, clock, b } = pair([hang], [hang], { callTimeoutMs: 20_000 });
    const error = await clock.run(errorOf(model.complete(question)));
    expect(error).toMatchObject({ code: 'timeout', clock: 'deadline', provider: 'a' });
    expect([clock.now(), b.requests.length]).toEqual([20_000, 0]);
  });

  it('of models without a deadline has the default one, not none at all', async () => {
    const { model: only, clock } = scripted([answers('ok')], {
      policy: { callTimeoutMs: undefined } as object,
    });
    expect(await clock.run(fallback([only]).complete(question))).toMatchObject({ text: 'ok' });
  });

  it('has one retry budget', async () => {
    const { model, clock, a, b } = pair([[overload]], [[overload]], {
      budget: { capacity: 3, perSuccess: 0, perSecond: 0 },
    });
    await clock.run(errorOf(model.complete(question)));
    expect([a.requests.length, b.requests.length]).toEqual([3, 2]);
    await clock.run(errorOf(model.complete(question)));
    expect([a.requests.length, b.requests.length]).toEqual([4, 3]);
  });

  it('reports the attempts of all models', async () => {
    const { model, clock } = pair([[overload]], [[overload]]);
    const error = await clock.run(errorOf(model.complete(question)));
    expect(error).toMatchObject({ provider: 'b', attempts: 6 });
  });
});

describe('a model', () => {
  it('holds back all requests for the time that one was told', async () => {
    const { model, clock, requests } = scripted([[limited(30_000)], answers('ok')]);
    const first = model.complete(question);
    await clock.advance(1_000);
    const second = model.complete(question);
    await clock.run(Promise.all([first, second]));
    expect(requests.map(({ at }) => at)).toEqual([0, 30_000, 30_000]);
  });

  it('is held back for the longest time that it asked for', async () => {
    const { model, clock, requests } = scripted([
      [limited(30_000)],
      [limited(5_000)],
      answers('ok'),
    ]);
    await clock.run(Promise.all([model.complete(question), model.complete(question)]));
    expect(requests.map(({ at }) => at)).toEqual([0, 0, 30_000, 30_000]);
  });

  it('pauses after repeated failures, then probes with one request', async () => {
    const dead = [['connected', fails('network', { kind: 'network' })]] as const;
    const { model, clock, requests } = scripted(dead, { policy: { maxRetries: 0 } });
    for (let i = 0; i < 10; i++) {
      await clock.run(errorOf(model.complete(question)));
      await clock.advance(300);
    }
    const sent = requests.length;
    expect(sent).toBeLessThan(10);
    const refused = await clock.run(errorOf(model.complete(question)));
    expect(refused).toMatchObject({ code: 'circuit_open', attempts: 0 });
    expect((await model.health())[0]?.state).toBe('down');
    await clock.advance(10_000);
    await Promise.all([1, 2, 3].map(() => clock.run(errorOf(model.complete(question)))));
    expect(requests.length).toBe(sent + 1);
  });

  it('is probed again after a consumer has left the probe', async () => {
    const dead: readonly Step[] = ['connected', fails('network', { kind: 'network' })];
    const scripts = [dead];
    const { model, clock, requests } = scripted(scripts, { policy: { maxRetries: 0 } });
    const { upstream } = model.channels[0]!;
    while (upstream.circuit !== 'open') {
      await clock.run(errorOf(model.complete(question)));
      await clock.advance(300);
    }
    scripts.push(
      ...requests.slice(1).map(() => dead),
      ['headers', text('a'), 'hang'],
      answers('ok'),
    );
    await clock.advance(10_000);
    for await (const event of model.stream(question)) if (event.type === 'content') break;
    expect(upstream.circuit).toBe('half_open');
    expect(await clock.run(model.complete(question))).toMatchObject({ text: 'ok' });
    expect(upstream.circuit).toBe('closed');
  });

  it('stays healthy after a mistake of its caller, and recovers with a success', async () => {
    const invalid = [fails('invalid_request', { kind: 'rejected', status: 400 })];
    const { model, clock } = scripted([invalid, [overload], answers('ok')], {
      policy: { maxRetries: 0 },
    });
    await clock.run(errorOf(model.complete(question)));
    expect(await model.health()).toMatchObject([{ state: 'healthy' }]);
    await clock.run(errorOf(model.complete(question)));
    expect(await model.health()).toMatchObject([{ state: 'degraded' }]);
    await clock.run(model.complete(question));
    expect(await model.health()).toMatchObject([{ state: 'healthy' }]);
  });

  it('is unknown if it cannot be checked, until a request tells', async () => {
    const check = { state: 'unknown', detail: 'no check' } as const;
    const { model, clock } = scripted([answers('ok')], { check: () => Promise.resolve(check) });
    expect(await model.health()).toMatchObject([check]);
    await clock.run(model.complete(question));
    expect(await model.health()).toMatchObject([{ state: 'healthy', detail: 'answers requests' }]);
  });

  it('bounds its checks and lists, whatever the provider does', async () => {
    const { model, clock } = scripted([], { check: () => new Promise(() => {}) });
    const [health] = await clock.run(model.health());
    expect(health).toMatchObject({ state: 'down', detail: expect.stringContaining('within 10 s') });
    const error = await clock.run(errorOf(model.models()));
    expect(error).toMatchObject({ code: 'timeout', clock: 'headers' });
    expect([clock.now(), clock.pending]).toEqual([20_000, 0]);
  });

  it('is degraded while it cools down', async () => {
    const { model, clock } = scripted([[limited(30_000)]], { policy: { maxRetries: 0 } });
    expect(await model.health()).toMatchObject([{ state: 'healthy', model: 'model-1' }]);
    await clock.run(errorOf(model.complete(question)));
    expect(await model.health()).toMatchObject([{ state: 'degraded' }]);
  });
});
