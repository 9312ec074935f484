import type { AcceptedCall, Next, Settled } from '@toolkeel/contract';
import { expect, it } from 'vitest';
import { chain, type HostMiddleware } from './around.js';
import { RunningCall } from './scope.js';

const call = {} as AcceptedCall;
const scope = new RunningCall({ name: 'x', meta: { key: 1 }, timeoutMs: 1, now: 0 });

it('enters layers from the outside in, and adds up what they give', async () => {
  const order: string[] = [];
  const layer =
    (name: string, extra?: Parameters<Next>[0]): HostMiddleware =>
    async (_call, next, { meta }) => {
      order.push(`${name} ${String(meta['key'])}`);
      const settled = await next(extra);
      order.push(`${name} out`);
      return settled;
    };
  const operation = { id: 'op_1' } as never;
  const handler: Next = (extra) => Promise.resolve({ ok: true, data: extra });
  const layers = [
    layer('policy', { deadline: 7 }),
    layer('journal', { operation }),
    layer('plain'),
  ];
  expect(await chain(layers, scope)(call, handler)).toEqual({
    ok: true,
    data: { deadline: 7, operation: { id: 'op_1' } },
  });
  expect(order).toEqual([
    'policy 1',
    'journal 1',
    'plain 1',
    'plain out',
    'journal out',
    'policy out',
  ]);
});

it('lets a layer answer in place of what is inside of it', async () => {
  const denied: Settled = { ok: false, error: { code: 'policy_denied_blocked', message: 'No.' } };
  const handler: Next = () => Promise.reject(new Error('must not be reached'));
  expect(await chain([() => Promise.resolve(denied)], scope)(call, handler)).toBe(denied);
});
