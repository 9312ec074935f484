import { expect, test } from 'vitest';
import type { Operation } from '../../operation.js';
import type { Limit } from '../store.js';
import {
  byContent,
  claimed,
  DAY,
  fencingToken,
  newId,
  owner,
  plain,
  release,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

const MINUTE = 60_000;
const limit = (max: number, changes: Partial<Limit> = {}): Limit => ({
  name: 'posts',
  max,
  windowMs: MINUTE,
  ...changes,
});

export function limitContract(bench: () => Bench): void {
  const next = async (): Promise<Operation> => {
    const { store } = bench();
    if (!(await store.renew('carol', 2 * DAY))) await store.registerOwner(owner('carol'), 2 * DAY);
    return claimed(store, { owner: 'carol', dedupKey: byContent(newId()) });
  };
  const send = async (...limits: Limit[]) =>
    bench().store.send(fencingToken(await next()), { limits });

  test('counts over a sliding window and says when there is room again', async () => {
    const { advance } = bench();
    const three = limit(3);
    for (let i = 0; i < 3; i++) {
      expect((await send(three)).kind).toBe('sent');
      await advance(10_000);
    }
    expect(await send(three)).toEqual({ kind: 'limited', limit: three, retryAfterMs: 30_000 });
    await advance(29_999);
    expect(await send(three)).toEqual({ kind: 'limited', limit: three, retryAfterMs: 1 });
    await advance(1);
    expect((await send(three)).kind).toBe('sent');
    expect(await send(three)).toMatchObject({ retryAfterMs: 10_000 });
  });

  test('what was limited is still the caller’s, and nothing was counted', async () => {
    const { store } = bench();
    const one = limit(1);
    const other = limit(1, { name: 'all' });
    await send(one);
    const operation = await next();
    expect(await store.send(fencingToken(operation), { limits: [other, one] })).toMatchObject({
      kind: 'limited',
      limit: one,
    });
    expect(await store.get(operation.id)).toEqual(operation);
    expect((await store.send(fencingToken(operation), { limits: [other] })).kind).toBe('sent');
  });

  test('of several full limits the longest wait is told', async () => {
    const day = limit(1, { name: 'day', windowMs: DAY });
    await send(limit(1), day);
    expect(await send(limit(1), day)).toEqual({ kind: 'limited', limit: day, retryAfterMs: DAY });
  });

  test('two windows under one name count the same sends, once', async () => {
    const { advance } = bench();
    const windows = [limit(2), limit(3, { windowMs: DAY })] as const;
    expect((await send(...windows)).kind).toBe('sent');
    expect((await send(...windows)).kind).toBe('sent');
    expect(await send(...windows)).toMatchObject({ retryAfterMs: MINUTE });
    await advance(MINUTE);
    expect((await send(...windows)).kind).toBe('sent');
    expect(await send(...windows)).toMatchObject({ retryAfterMs: DAY - MINUTE });
  });

  test('a clock that is set back makes nobody wait longer than the window', async () => {
    const { store, advance } = bench();
    const two = limit(2);
    await send(two);
    await advance(1000);
    await send(two);
    await advance(-60 * MINUTE);
    expect(await send(two)).toEqual({ kind: 'limited', limit: two, retryAfterMs: MINUTE });
    await advance(20_000);
    expect(await send(two)).toMatchObject({ retryAfterMs: MINUTE - 20_000 });
    await advance(40_000);
    expect((await send(two)).kind).toBe('sent');
    // What was counted before the jump takes no more room than what was counted after it.
    expect((await send(two)).kind).toBe('sent');
    expect((await send(two)).kind).toBe('limited');
    await store.prune(0);
    expect((await send(two)).kind).toBe('limited');
  });

  test('a clock that is set back forgets nothing where there is still room', async () => {
    const { advance } = bench();
    await send(limit(2));
    await advance(-60 * MINUTE);
    expect((await send(limit(2))).kind).toBe('sent');
    expect(await send(limit(2))).toMatchObject({ retryAfterMs: MINUTE });
    await advance(MINUTE);
    expect((await send(limit(2))).kind).toBe('sent');
    expect((await send(limit(2))).kind).toBe('sent');
  });

  test('nothing is allowed where the limit is nothing', async () => {
    expect(await send(limit(0))).toEqual({
      kind: 'limited',
      limit: limit(0),
      retryAfterMs: MINUTE,
    });
  });

  test('is never passed by many processes at once', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    const operations: Operation[] = [];
    for (let i = 0; i < 18; i++) operations.push(await next());
    const results = await Promise.all(
      operations.map((operation, i) =>
        stores[i % 3]!.send(fencingToken(operation), {
          limits: [limit(7), limit(9, { name: i % 2 ? 'odd' : 'even' })],
        }),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'sent')).toHaveLength(7);
  });

  test('what never left is given back, and only that', async () => {
    const { store } = bench();
    const two = limit(2);
    const operation = await next();
    await store.send(fencingToken(operation), { limits: [two], step: 'a' });
    await store.completeStep(fencingToken(operation), 'a', '{}');
    await store.send(fencingToken(operation), { limits: [two], step: 'b' });
    expect((await send(two)).kind).toBe('limited');
    await store.settle(fencingToken(operation), release({ refund: true }));
    expect((await send(two)).kind).toBe('sent');
    expect((await send(two)).kind).toBe('limited');
  });

  test('without a refund everything that was sent stays counted, also an unknown', async () => {
    const { store } = bench();
    for (const settlement of [success(), unknown()]) {
      const operation = await next();
      await store.send(fencingToken(operation), { limits: [limit(2)] });
      await store.settle(fencingToken(operation), settlement);
    }
    expect((await send(limit(2))).kind).toBe('limited');
  });

  test('who passes no limits counts nothing', async () => {
    const { store } = bench();
    await store.send(fencingToken(await next()), plain);
    expect((await send(limit(1))).kind).toBe('sent');
  });
}
