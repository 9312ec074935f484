import { expect, test } from 'vitest';
import type { Operation } from '../../operation.js';
import type { Limit } from '../store.js';
import {
  type Bench,
  byContent,
  claimed,
  DAY,
  fencingToken,
  LEASE,
  newId,
  owner,
  plain,
  release,
  request,
  sending,
  settled,
  success,
  unknown,
} from './harness.fixture.js';

const LOST = { kind: 'lost' };

export function sendContract(bench: () => Bench): void {
  test('marks the operation as sending and returns the time', async () => {
    const { store, advance } = bench();
    const operation = await claimed(store);
    await advance(5);
    const at = await store.now();
    expect(await store.send(fencingToken(operation), plain)).toEqual({ kind: 'sent', at });
    expect(await store.get(operation.id)).toEqual({
      ...operation,
      state: 'sending',
      sendingAt: at,
    });
  });

  test('is refused for another owner, another fence or a missing operation', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    const mine = fencingToken(operation);
    expect(await store.send({ ...mine, owner: 'bob' }, plain)).toEqual(LOST);
    expect(await store.send({ ...mine, fence: 2 }, plain)).toEqual(LOST);
    expect(await store.send({ ...mine, id: 'op_none' }, plain)).toEqual(LOST);
    expect(await store.get(operation.id)).toEqual(operation);
  });

  test('is refused after the lease expired, also before a sweep', async () => {
    const { store, advance } = bench();
    const operation = await claimed(store);
    await advance(LEASE);
    expect(await store.send(fencingToken(operation), plain)).toEqual(LOST);
    expect(await store.get(operation.id)).toEqual(operation);
  });

  test('is refused for a process that slept through a sweep, renewed or not', async () => {
    const { store, another, advance } = bench();
    const operation = await claimed(store);
    await advance(LEASE);
    await (await another()).sweep();
    expect(await store.renew('alice', LEASE)).toBe(false);
    await store.registerOwner(owner('alice'), LEASE);
    expect(await store.send(fencingToken(operation), plain)).toEqual(LOST);
  });

  test('is granted under a renewed lease', async () => {
    const { store, advance } = bench();
    const operation = await claimed(store);
    for (let i = 0; i < 5; i++) {
      await advance(LEASE - 1);
      expect(await store.renew('alice', LEASE)).toBe(true);
    }
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
  });

  test('a further attempt is granted to the same owner only', async () => {
    const { store } = bench();
    const operation = await sending(store);
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
    expect(await store.send({ ...fencingToken(operation), owner: 'bob' }, plain)).toEqual(LOST);
  });

  test('a settled operation is never sent again', async () => {
    const { store } = bench();
    const operation = await settled(store);
    expect(await store.send({ ...fencingToken(operation), owner: 'alice' }, plain)).toEqual(LOST);
  });

  test('only one of many concurrent owners sends', async () => {
    const { store, another, advance } = bench();
    const stale = await claimed(store);
    await advance(LEASE);
    await store.registerOwner(owner('bob'), DAY);
    const other = await another();
    const fresh = await claimed(other, { owner: 'bob' });
    const results = await Promise.all([
      store.send(fencingToken(stale), plain),
      other.send(fencingToken(fresh), plain),
      store.send(fencingToken(stale), plain),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(['lost', 'sent', 'lost']);
    await other.settle(fencingToken(fresh), success());
    expect((await store.claim(request({ owner: 'bob' }))).kind).toBe('held');
  });
}

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

  test('counts over a sliding window and returns the retry delay', async () => {
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

  test('a limited operation keeps its owner, and nothing is counted', async () => {
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

  test('the longest delay of several exceeded limits is returned', async () => {
    const day = limit(1, { name: 'day', windowMs: DAY });
    await send(limit(1), day);
    expect(await send(limit(1), day)).toEqual({ kind: 'limited', limit: day, retryAfterMs: DAY });
  });

  test('two windows under one name count each send once', async () => {
    const { advance } = bench();
    const windows = [limit(2), limit(3, { windowMs: DAY })] as const;
    expect((await send(...windows)).kind).toBe('sent');
    expect((await send(...windows)).kind).toBe('sent');
    expect(await send(...windows)).toMatchObject({ retryAfterMs: MINUTE });
    await advance(MINUTE);
    expect((await send(...windows)).kind).toBe('sent');
    expect(await send(...windows)).toMatchObject({ retryAfterMs: DAY - MINUTE });
  });

  test('after the clock is set back no delay exceeds the window', async () => {
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
    // Entries from before the jump expire with those from after it.
    expect((await send(two)).kind).toBe('sent');
    expect((await send(two)).kind).toBe('limited');
    await store.prune(0);
    expect((await send(two)).kind).toBe('limited');
  });

  test('after the clock is set back earlier entries still count', async () => {
    const { advance } = bench();
    await send(limit(2));
    await advance(-60 * MINUTE);
    expect((await send(limit(2))).kind).toBe('sent');
    expect(await send(limit(2))).toMatchObject({ retryAfterMs: MINUTE });
    await advance(MINUTE);
    expect((await send(limit(2))).kind).toBe('sent');
    expect((await send(limit(2))).kind).toBe('sent');
  });

  test('a limit of zero refuses every send', async () => {
    expect(await send(limit(0))).toEqual({
      kind: 'limited',
      limit: limit(0),
      retryAfterMs: MINUTE,
    });
  });

  test('concurrent processes never exceed a limit', async () => {
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

  test('a refund removes the last send only', async () => {
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

  test('without a refund every send stays counted, also of an unknown operation', async () => {
    const { store } = bench();
    for (const settlement of [success(), unknown()]) {
      const operation = await next();
      await store.send(fencingToken(operation), { limits: [limit(2)] });
      await store.settle(fencingToken(operation), settlement);
    }
    expect((await send(limit(2))).kind).toBe('limited');
  });

  test('a send without limits counts nothing', async () => {
    const { store } = bench();
    await store.send(fencingToken(await next()), plain);
    expect((await send(limit(1))).kind).toBe('sent');
  });
}
