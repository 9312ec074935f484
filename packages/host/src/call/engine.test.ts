import { defineTool, toolError, type Tool } from '@toolkeel/contract';
import { VirtualClock } from '@toolkeel/kernel/testing';
import type { ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { Metrics } from '../metrics.js';
import type { OnDelivered } from './deliveries.js';
import { CallEngine, type EngineOptions } from './engine.js';
import type { HostMiddleware } from './middleware.js';
import type { CallContext } from './running-call.js';

type Handler = Tool['handler'];

const tool = (handler: Handler, effect: 'read' | 'once' = 'read'): Tool =>
  defineTool({
    name: 'x',
    title: 'X',
    description: 'X',
    category: 'read',
    effect,
    profiles: effect === 'read' ? ['readonly', 'api', 'workflow'] : ['api', 'workflow'],
    input: z.object({}),
    output: z.unknown(),
    errors: ['invalid_input'],
    handler,
  });

const setUp = (
  middleware: readonly HostMiddleware[] = [],
  options: Pick<EngineOptions, 'plainReadLevel'> = {},
) => {
  const clock = new VirtualClock();
  const lines: Record<string, unknown>[] = [];
  const rows: unknown[] = [];
  const metrics = {
    callEnded: vi.fn(),
    attempts: vi.fn(),
    retry: vi.fn(),
    retryExhausted: vi.fn(),
    timeout: vi.fn(),
    replay: vi.fn(),
    circuit: vi.fn(),
  } satisfies Metrics;
  const engine = new CallEngine({
    profile: { name: 'api' },
    middlewareFor: () => middleware,
    metrics,
    clock,
    log: (level, event, fields) => lines.push({ level, event, ...fields }),
    recordCall: (row) => rows.push(row),
    ...options,
  });
  const run = (
    given: Tool,
    client?: AbortSignal,
    load: () => Tool | Promise<Tool> = () => given,
  ) => {
    const mcpReq = { method: 'tools/call', signal: client ?? new AbortController().signal };
    const context = { mcpReq } as unknown as ServerContext;
    const callable = { spec: given, load, timeoutMs: 1000, reportsEvents: true };
    return Promise.resolve(engine.run(callable, {}, context));
  };
  return { clock, lines, rows, metrics, engine, run };
};

const throwing = (cause: unknown) => (): never => {
  throw cause;
};
const never = (): Promise<never> => new Promise(() => {});

describe('the log', () => {
  it('has plain reads at a level of their own, and all other calls at info', async () => {
    const { run, lines, engine } = setUp([], { plainReadLevel: 'debug' });
    const retry = { type: 'retry_attempt', afterMs: 5, attempt: 1 };
    await run(tool(() => 'read'));
    await run(tool(() => toolError('invalid_input', 'x')));
    await run(tool(() => 'acted', 'once'));
    await run(
      tool((_, { correlationId }) => {
        engine.observe({ ...retry, correlationId });
        return 'read again';
      }),
    );
    const calls = lines.filter(({ event }) => event === 'tool_call');
    expect(calls.map(({ level, code, retries }) => [level, code, retries])).toEqual([
      ['debug', 'ok', 0],
      ['info', 'invalid_input', 0],
      ['info', 'ok', 0],
      ['info', 'ok', 1],
    ]);
  });
});

describe('the deadline', () => {
  it('ends a call even if its handler ignores it, and then aborts the handler', async () => {
    const { clock, run, lines, metrics } = setUp();
    let signal: AbortSignal | undefined;
    let deadline = 0;
    const ignoring = tool((_, context) => {
      ({ signal, deadline } = context);
      return never();
    });
    const started = clock.now();
    const { envelope } = await clock.run(run(ignoring));
    expect(envelope).toMatchObject({ error: { code: 'timeout', details: { clock: 'deadline' } } });
    expect(deadline - started).toBe(1000);
    expect(clock.now() - started).toBeLessThanOrEqual(1015);
    expect(signal?.aborted).toBe(true);
    expect(metrics.timeout).toHaveBeenCalledExactlyOnceWith('x');
    expect(lines.map(({ event }) => event)).toEqual(['timeout_abort', 'tool_call']);
  });

  it('is logged and counted once, however many requests it ended', async () => {
    const { clock, run, lines, metrics, engine } = setUp();
    const late = { type: 'timeout_abort', clock: 'deadline' };
    const calling = tool(async (_, { deadline, correlationId }) => {
      await new Promise<void>((resolve) => {
        clock.setTimer(deadline - clock.now(), resolve);
      });
      engine.observe({ ...late, correlationId });
      engine.observe({ ...late, correlationId });
      return toolError('timeout', 'x', { details: { clock: 'deadline' } });
    });
    const { envelope } = await clock.run(run(calling));
    expect(metrics.timeout).toHaveBeenCalledExactlyOnceWith('x');
    expect(lines.map(({ event }) => event)).toEqual([
      'upstream_timeout',
      'upstream_timeout',
      'timeout_abort',
      'tool_call',
    ]);
    const { correlation_id: id } = envelope.meta;
    expect(new Set(lines.map((line) => line['correlation_id']))).toEqual(new Set([id]));
  });

  it('of a single request is not the deadline of the call', async () => {
    const { run, lines, metrics } = setUp();
    const hasty = tool(() => toolError('timeout', 'x', { details: { clock: 'deadline' } }));
    expect((await run(hasty)).envelope).toMatchObject({ error: { code: 'timeout' } });
    expect(metrics.timeout).not.toHaveBeenCalled();
    expect(lines.map(({ event }) => event)).toEqual(['tool_call']);
  });

  it('gives a handler that respects it a moment to return its own result', async () => {
    const { clock, run } = setUp();
    const punctual = tool(async (_, { deadline }) => {
      await new Promise<void>((resolve) => {
        clock.setTimer(deadline - clock.now(), resolve);
      });
      return 'in time';
    });
    expect((await clock.run(run(punctual))).envelope).toMatchObject({ data: 'in time' });
  });

  it('gives a mutation an unknown outcome', async () => {
    const { clock, run } = setUp();
    expect((await clock.run(run(tool(never, 'once')))).envelope).toMatchObject({
      error: { code: 'outcome_unknown', outcome: 'unknown', details: { clock: 'deadline' } },
    });
  });

  it('lets middleware continue, and logs its late result', async () => {
    const recorded = vi.fn();
    const journal: HostMiddleware = async (_call, next) => {
      const settled = await next();
      recorded(settled);
      return settled;
    };
    const { clock, run, lines } = setUp([journal]);
    let answer = (_value: string): void => {};
    const late = tool(() => new Promise<string>((resolve) => (answer = resolve)));
    await clock.run(run(late));
    answer('done');
    await vi.waitFor(() => expect(recorded).toHaveBeenCalledOnce(), { timeout: 30_000 });
    await vi.waitFor(
      () => expect(lines.at(-1)).toMatchObject({ event: 'late_answer', code: 'ok' }),
      { timeout: 30_000 },
    );
  });
});

describe('a pack that is not created yet', () => {
  const after = (clock: VirtualClock, ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimer(ms, () => resolve());
    });

  it('counts towards the time limit of the call', async () => {
    const { clock, run } = setUp();
    const seen = vi.fn();
    const quick = tool((_, { deadline }) => {
      seen(deadline - clock.now());
      return 'done';
    });
    const load = () => after(clock, 400).then(() => quick);
    expect((await clock.run(run(quick, undefined, load))).envelope).toMatchObject({
      data: 'done',
      meta: { elapsed_ms: 400 },
    });
    expect(seen).toHaveBeenCalledExactlyOnceWith(600);
    expect(clock.pending).toBe(0);
  });

  it('does not delay the timeout if its creation never ends', async () => {
    const { clock, run, metrics, lines } = setUp();
    const started = clock.now();
    const { envelope } = await clock.run(run(tool(never), undefined, never));
    expect(envelope).toMatchObject({
      error: { code: 'timeout', details: { clock: 'deadline' } },
      meta: { elapsed_ms: 1000 },
    });
    expect(clock.now() - started).toBe(1000);
    expect(metrics.timeout).toHaveBeenCalledOnce();
    expect(lines.map(({ event }) => event)).toEqual(['timeout_abort', 'tool_call']);
  });

  it('results in an error envelope if it cannot be created, and the cause is logged', async () => {
    const { run, lines } = setUp();
    const broken = new Error('no such file');
    for (const load of [() => Promise.reject(broken), throwing(broken)]) {
      expect((await run(tool(never), undefined, load)).envelope).toMatchObject({
        error: { code: 'internal_error' },
      });
      expect(lines.at(-2)).toMatchObject({ event: 'unexpected', cause: broken });
    }
  });
});

describe('a client that cancels', () => {
  it('ends its call, with the reason of the client', async () => {
    const { run } = setUp();
    const client = new AbortController();
    let signal: AbortSignal | undefined;
    const call = run(
      tool((_, context) => {
        ({ signal } = context);
        return never();
      }),
      client.signal,
    );
    client.abort('enough');
    expect((await call).envelope).toMatchObject({ error: { code: 'cancelled' } });
    expect(signal?.reason).toBe('enough');
  });

  it('does not end a call that is held', async () => {
    const client = new AbortController();
    const hold: HostMiddleware = (_call, next, context) => {
      context.hold();
      return next();
    };
    const { run } = setUp([hold]);
    const act = tool((_, { signal }) => {
      client.abort();
      return { aborted: signal.aborted };
    }, 'once');
    expect((await run(act, client.signal)).envelope).toMatchObject({ data: { aborted: false } });
  });

  it('before the call starts prevents it', async () => {
    const handler = vi.fn();
    const { run } = setUp();
    const { envelope } = await run(tool(handler, 'once'), AbortSignal.abort());
    expect(envelope).toMatchObject({ error: { code: 'cancelled', outcome: 'not_executed' } });
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('exhausted retries', () => {
  const giveUp = { type: 'retry_give_up', attempts: 3, reason: 'exhausted' };

  it('are counted once for a call that fails, however many of its requests give up', async () => {
    const { run, engine, metrics } = setUp();
    const failing = tool((_, { correlationId }) => {
      engine.observe({ ...giveUp, correlationId });
      engine.observe({ ...giveUp, correlationId });
      return toolError('upstream_unavailable', 'x');
    });
    await run(failing);
    expect(metrics.retryExhausted).toHaveBeenCalledExactlyOnceWith('x');
  });

  it('are not counted for a call that still succeeds', async () => {
    const { run, engine, metrics } = setUp();
    const managing = tool((_, { correlationId }) => {
      engine.observe({ ...giveUp, correlationId });
      return 'from another source';
    });
    expect((await run(managing)).envelope.success).toBe(true);
    expect(metrics.retryExhausted).not.toHaveBeenCalled();
  });
});

describe('the record of a call', () => {
  const attempt = (elapsedMs: number) => ({ type: 'attempt_end', attempt: 0, elapsedMs });
  const request = (elapsedMs: number) => ({ type: 'call_end', attempts: 2, elapsedMs });
  const rowAfter = async (...events: readonly { readonly type: string }[]) => {
    const { run, engine, rows } = setUp();
    await run(
      tool((_, { correlationId }) => {
        for (const event of events) engine.observe({ ...event, correlationId });
        return 'at last';
      }),
    );
    expect(rows).toHaveLength(1);
    return rows[0];
  };

  it('has the attempts and the time between them', async () => {
    const row = await rowAfter(attempt(30), attempt(50), request(330));
    expect(row).toMatchObject({ code: 'ok', attempts: 2, waitedMs: 250 });
  });

  it('has no negative waiting time if attempts overlapped', async () => {
    expect(await rowAfter(attempt(90), attempt(50), request(100))).toMatchObject({ waitedMs: 0 });
  });
});

describe('draining', () => {
  it('waits for calls in flight, and ends at once without any', async () => {
    const { engine, run } = setUp();
    await engine.drain(1000);
    let answer = (_value: null): void => {};
    const call = run(tool(() => new Promise<null>((resolve) => (answer = resolve))));
    expect(engine.runningCalls).toBe(1);
    const drained = engine.drain(60_000);
    answer(null);
    await drained;
    expect((await call).envelope.success).toBe(true);
    expect(engine.runningCalls).toBe(0);
  });

  it('ends calls that exceed the grace period', async () => {
    const { engine, run } = setUp();
    const call = run(tool(never));
    await engine.drain(0);
    expect((await call).envelope).toMatchObject({ error: { code: 'cancelled' } });
  });
});

const registering =
  (callback: OnDelivered): HostMiddleware =>
  (_call, next, context) => {
    context.onDelivered(callback);
    return next();
  };

const ignore = (): void => {};

describe('delivery callbacks', () => {
  it('are registered by middleware and by the handler', async () => {
    const [ofMiddleware, ofHandler] = [vi.fn(), vi.fn()];
    const { run } = setUp([registering(ofMiddleware)]);
    const registers = tool((_, { onDelivered }) => {
      onDelivered?.(ofHandler);
      return 1;
    }, 'once');
    const { deliveryCallbacks } = await run(registers);
    expect(deliveryCallbacks).toEqual([ofMiddleware, ofHandler]);
    expect(ofMiddleware).not.toHaveBeenCalled();
  });

  it('are registered by a handler with an operation, and by one without middleware', async () => {
    const delivered = vi.fn();
    const registers = tool((_, { onDelivered }) => {
      onDelivered?.(delivered);
      return 1;
    }, 'read');
    const operation = { id: 'op_1' } as never;
    const journal: HostMiddleware = (_call, next) => next({ operation });
    expect((await setUp([journal]).run(registers)).deliveryCallbacks).toEqual([delivered]);
    expect((await setUp().run(registers)).deliveryCallbacks).toEqual([delivered]);
  });

  it('are kept for an error with the outcome executed', async () => {
    const delivered = vi.fn();
    const { run } = setUp([registering(delivered)]);
    const failing = tool(() => toolError('invalid_input', 'x', { outcome: 'executed' }), 'once');
    expect((await run(failing)).deliveryCallbacks).toEqual([delivered]);
  });

  it.each(['not_executed', 'unknown'] as const)(
    'are dropped for an error with the outcome %s',
    async (outcome) => {
      const { run } = setUp([registering(ignore)]);
      const failing = tool(() => toolError('invalid_input', 'x', { outcome }), 'once');
      const completed = await run(failing);
      expect(completed.envelope).toMatchObject({ error: { outcome } });
      expect(completed.deliveryCallbacks).toBeUndefined();
    },
  );

  it('are dropped when the deadline ended the call', async () => {
    const { clock, run } = setUp([registering(ignore)]);
    const completed = await clock.run(run(tool(never, 'once')));
    expect(completed.envelope).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(completed.deliveryCallbacks).toBeUndefined();
  });

  it('are dropped when the client cancelled the call', async () => {
    const cancelling = new AbortController();
    const { run } = setUp([registering(ignore)]);
    const quick = tool(() => {
      cancelling.abort();
      return 1;
    }, 'once');
    expect((await run(quick, cancelling.signal)).deliveryCallbacks).toBeUndefined();
    const slow = run(tool(never, 'once'), cancelling.signal);
    expect((await slow).deliveryCallbacks).toBeUndefined();
  });

  it('are ignored after the call has ended', async () => {
    let context: CallContext | undefined;
    const capture: HostMiddleware = (_call, next, given) => {
      context = given;
      return next();
    };
    const { run } = setUp([capture]);
    const { deliveryCallbacks } = await run(tool(() => 1, 'once'));
    const late = vi.fn();
    context?.onDelivered(late);
    expect(deliveryCallbacks).toBeUndefined();
    expect(late).not.toHaveBeenCalled();
  });
});
