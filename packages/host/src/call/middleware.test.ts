import type { AcceptedCall, Next, Settled } from '@toolkeel/contract';
import { expect, it } from 'vitest';
import { composeMiddleware, type HostMiddleware } from './middleware.js';
import { RunningCall } from './running-call.js';

const call = {} as AcceptedCall;
const context = new RunningCall({ name: 'x', meta: { key: 1 }, timeoutMs: 1, now: 0 });

it('runs from the outside in, and accumulates the additions to the handler context', async () => {
  const order: string[] = [];
  const middleware =
    (name: string, extra?: Parameters<Next>[0]): HostMiddleware =>
    async (_call, next, { meta }) => {
      order.push(`${name} ${String(meta['key'])}`);
      const settled = await next(extra);
      order.push(`${name} out`);
      return settled;
    };
  const operation = { id: 'op_1' } as never;
  const handler: Next = (extra) => Promise.resolve({ ok: true, data: extra });
  const chain = [
    middleware('policy', { deadline: 7 }),
    middleware('journal', { operation }),
    middleware('plain'),
  ];
  expect(await composeMiddleware(chain, context)(call, handler)).toEqual({
    ok: true,
    data: {
      deadline: 7,
      operation: { id: 'op_1' },
      signal: context.signal,
      onDelivered: context.onDelivered,
    },
  });
  expect(context.operationId).toBe('op_1');
  expect(order).toEqual([
    'policy 1',
    'journal 1',
    'plain 1',
    'plain out',
    'journal out',
    'policy out',
  ]);
});

it('lets middleware answer without calling the handler', async () => {
  const denied: Settled = { ok: false, error: { code: 'policy_denied_blocked', message: 'No.' } };
  const handler: Next = () => Promise.reject(new Error('must not be reached'));
  expect(await composeMiddleware([() => Promise.resolve(denied)], context)(call, handler)).toBe(
    denied,
  );
});
