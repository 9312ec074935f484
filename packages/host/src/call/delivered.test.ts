import { defineTool, toolError, type Tool } from '@toolkeel/contract';
import { VirtualClock } from '@toolkeel/kernel/testing';
import type { ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { prometheusMetrics } from '../metrics/prometheus.js';
import { silent } from '../log/log.js';
import type { HostMiddleware } from './around.js';
import type { Delivered } from './deliveries.js';
import { CallEngine } from './engine.js';
import type { CallScope } from './scope.js';

const tool = (handler: Tool['handler'], effect: 'read' | 'once' = 'once'): Tool =>
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

/** Registers before it lets the handler run, as the journal does after it. */
const registering =
  (delivered: Delivered): HostMiddleware =>
  (_call, next, scope) => {
    scope.onDelivered(delivered);
    return next();
  };

const setUp = (around: readonly HostMiddleware[] = []) => {
  const clock = new VirtualClock();
  const engine = new CallEngine({
    profile: { name: 'api' },
    layersOf: () => around,
    metrics: prometheusMetrics(
      () => Promise.resolve([]),
      () => Promise.resolve(undefined),
    ),
    clock,
    log: silent,
  });
  const run = (given: Tool, client = new AbortController().signal) => {
    const context = { mcpReq: { method: 'tools/call', signal: client } };
    const callable = { spec: given, load: () => given, timeoutMs: 1000, reportsEvents: true };
    return Promise.resolve(engine.run(callable, {}, context as unknown as ServerContext));
  };
  return { clock, engine, run };
};

const ignore = (): void => {};
const never = (): Promise<never> => new Promise(ignore);

describe('callbacks for the delivery of an answer', () => {
  it('come from the layers around a handler and from the handler itself', async () => {
    const [layer, handler] = [vi.fn(), vi.fn()];
    const { run } = setUp([registering(layer)]);
    const registers = tool((_, { onDelivered }) => {
      onDelivered?.(handler);
      return 1;
    });
    const { delivered } = await run(registers);
    expect(delivered).toEqual([layer, handler]);
    expect(layer).not.toHaveBeenCalled();
  });

  it('come from a handler that a layer gives an operation, or that no layer surrounds', async () => {
    const delivered = vi.fn();
    const registers = tool((_, { onDelivered }) => {
      onDelivered?.(delivered);
      return 1;
    }, 'read');
    const operation = { id: 'op_1' } as never;
    const layer: HostMiddleware = (_call, next) => next({ operation });
    expect((await setUp([layer]).run(registers)).delivered).toEqual([delivered]);
    expect((await setUp().run(registers)).delivered).toEqual([delivered]);
  });

  it('are kept for an error that was executed', async () => {
    const delivered = vi.fn();
    const { run } = setUp([registering(delivered)]);
    const failing = tool(() => toolError('invalid_input', 'x', { outcome: 'executed' }));
    expect((await run(failing)).delivered).toEqual([delivered]);
  });

  it.each(['not_executed', 'unknown'] as const)(
    'are dropped for an error with the outcome %s',
    async (outcome) => {
      const { run } = setUp([registering(ignore)]);
      const failing = tool(() => toolError('invalid_input', 'x', { outcome }));
      const answered = await run(failing);
      expect(answered.envelope).toMatchObject({ error: { outcome } });
      expect(answered.delivered).toBeUndefined();
    },
  );

  it('are dropped when the deadline ended the call', async () => {
    const { clock, run } = setUp([registering(ignore)]);
    const answered = await clock.run(run(tool(never)));
    expect(answered.envelope).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(answered.delivered).toBeUndefined();
  });

  it('are dropped when the client cancelled the call', async () => {
    const cancelling = new AbortController();
    const { run } = setUp([registering(ignore)]);
    const quick = tool(() => {
      cancelling.abort();
      return 1;
    });
    expect((await run(quick, cancelling.signal)).delivered).toBeUndefined();
    const slow = run(tool(never), cancelling.signal);
    expect((await slow).delivered).toBeUndefined();
  });

  it('are ignored after the call was answered', async () => {
    let scope: CallScope | undefined;
    const layer: HostMiddleware = (_call, next, given) => {
      scope = given;
      return next();
    };
    const { run } = setUp([layer]);
    const { delivered } = await run(tool(() => 1));
    const late = vi.fn();
    scope?.onDelivered(late);
    expect(delivered).toBeUndefined();
    expect(late).not.toHaveBeenCalled();
  });
});
