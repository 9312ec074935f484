import { expect, test } from 'vitest';
import type { ClaimRequest } from '../store.js';
import {
  byKey,
  byTemplate,
  claimed,
  DAY,
  fencingToken,
  LEASE,
  owner,
  release,
  request,
  sending,
  settled,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

const [a, b] = ['key-aaaaaaaaaaaaaaaa', 'key-bbbbbbbbbbbbbbbb'];
const refund = (key?: string, changes: Partial<ClaimRequest> = {}): Partial<ClaimRequest> => ({
  dedupKey: byTemplate(),
  ...(key !== undefined && { key }),
  ...changes,
});

/** Operations with a template key and an explicit key. */
export function explicitKeyContract(bench: () => Bench): void {
  test('is found under its explicit key and its template, by any owner', async () => {
    const { store, another } = bench();
    const first = await claimed(store, refund(a));
    expect(first).toMatchObject({ key: a, dedupKey: byTemplate(), holdsDedupKey: true });
    expect(await store.get(first.id)).toEqual(first);
    const other = await another();
    for (const again of [
      refund(a),
      refund(b),
      refund(),
      refund(b, { argsHash: 'h2' }),
      // The explicit key with another template: the caller gets the operation of its key.
      refund(a, { dedupKey: byTemplate('refund:2'), argsHash: 'h2' }),
      { dedupKey: byKey(a), argsHash: 'h2' },
    ]) {
      const act = { account: 'main', tool: 'post', dedupKey: byTemplate(), ...again };
      expect(await other.isHeld({ ...act, allowDuplicate: false })).toBe(true);
      const result = await other.claim(request({ owner: 'bob', ...again }));
      expect(result).toEqual({ kind: 'held', operation: first });
    }
    const fresh = refund(b, { dedupKey: byTemplate('refund:2') });
    const act = { account: 'main', tool: 'post', dedupKey: byTemplate('refund:2'), key: b };
    expect(await other.isHeld({ ...act, allowDuplicate: false })).toBe(false);
    expect((await other.claim(request(fresh))).kind).toBe('mine');
  });

  test('a call with both keys finds an operation with the explicit key alone', async () => {
    const { store } = bench();
    const first = await claimed(store, { dedupKey: byKey(a) });
    const again = await store.claim(request(refund(a)));
    expect(again).toEqual({ kind: 'held', operation: first });
  });

  test('exactly one of many concurrent claims with different explicit keys wins', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    const results = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        stores[i % 3]!.claim(request(refund(i % 4 === 0 ? undefined : `key-${i % 12}-0123456789`))),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'mine')).toHaveLength(1);
    expect(await store.count(['claimed'])).toBe(1);
  });

  test('exactly one of many concurrent claims of different templates under one explicit key wins', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    const results = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        stores[i % 3]!.claim(request(refund(a, { dedupKey: byTemplate(`refund:${i}`) }))),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'mine')).toHaveLength(1);
    expect(await store.count(['claimed'])).toBe(1);
  });

  test('each key is held for its own time, and the operation as long as either', async () => {
    const { store, advance } = bench();
    await store.registerOwner(owner('alice'), 10 * DAY);
    const first = await settled(store, refund(a), success({ holdMs: 1000, keyHoldMs: DAY }));
    await advance(1000);
    const second = await settled(store, refund(), success({ holdMs: 2 * DAY }));
    expect(second.id).not.toBe(first.id);
    expect(await store.prune(await store.now())).toBe(0);
    expect((await store.claim(request(refund(a)))).operation.id).toBe(first.id);
    expect((await store.claim(request(refund(b)))).operation.id).toBe(second.id);
    await advance(DAY);
    // The hold of the explicit key has ended, and the template finds another operation.
    expect((await store.claim(request(refund(a)))).operation.id).toBe(second.id);
    expect(await store.prune(await store.now())).toBe(1);
    expect(await store.get(first.id)).toBeUndefined();
    expect(await store.get(second.id)).toBeDefined();
  });

  test('a shorter hold of the explicit key does not affect the template', async () => {
    const { store, advance } = bench();
    await store.registerOwner(owner('alice'), DAY);
    const first = await settled(store, refund(a), success({ holdMs: 5000, keyHoldMs: 1000 }));
    await advance(2000);
    expect((await store.claim(request(refund(a)))).operation.id).toBe(first.id);
    const next = await claimed(store, refund(a, { dedupKey: byTemplate('refund:2') }));
    expect((await store.claim(request(refund(a)))).operation.id).toBe(next.id);
    expect((await store.claim(request(refund()))).operation.id).toBe(first.id);
  });

  test('an intended duplicate takes the template key and leaves the explicit key', async () => {
    const { store } = bench();
    const first = await settled(store, refund(a));
    const second = await settled(store, refund(b, { allowDuplicate: true }));
    expect(second.holdsDedupKey).toBe(true);
    expect((await store.claim(request(refund()))).operation.id).toBe(second.id);
    for (const [key, { id }] of [
      [a, first],
      [b, second],
    ] as const) {
      const again = await store.claim(request(refund(key, { allowDuplicate: true })));
      expect(again).toMatchObject({ kind: 'held', operation: { id } });
    }
  });

  test('a duplicate beside an unsettled operation is found under its explicit key alone', async () => {
    const { store } = bench();
    const first = await claimed(store, refund(a));
    const second = await claimed(store, refund(b, { allowDuplicate: true }));
    expect(second.holdsDedupKey).toBe(false);
    expect((await store.claim(request(refund(b)))).operation.id).toBe(second.id);
    expect((await store.claim(request(refund()))).operation.id).toBe(first.id);
    const act = { account: 'main', tool: 'post', dedupKey: byTemplate(), allowDuplicate: true };
    expect(await store.isHeld({ ...act, key: b })).toBe(true);
    expect(await store.isHeld({ ...act, key: 'key-cccccccccccccccc' })).toBe(false);
  });

  test('an operation that was released or not executed releases both keys', async () => {
    const { store, advance } = bench();
    const ends = [
      () => settled(store, refund(a), release()),
      async () => {
        const { id } = await settled(store, refund(a), unknown());
        const { answer, code } = release();
        const verdict = { outcome: 'not_executed', answer, code, holdMs: DAY, by: 'ann' } as const;
        expect(await store.reconcile(id, verdict)).toBe(true);
      },
      async () => {
        await claimed(store, refund(a));
        await advance(LEASE);
        await store.registerOwner(owner('alice'), LEASE);
      },
    ];
    for (const end of ends) {
      await end();
      const act = { account: 'main', tool: 'post', dedupKey: byTemplate(), key: a };
      expect(await store.isHeld({ ...act, allowDuplicate: false })).toBe(false);
      const elsewhere = await claimed(store, refund(a, { dedupKey: byTemplate('refund:2') }));
      const here = await claimed(store, refund(b));
      for (const one of [elsewhere, here]) await store.settle(fencingToken(one), release());
    }
  });

  test('an operation that is unknown or reconciled as executed keeps both keys', async () => {
    const { store, advance } = bench();
    await store.registerOwner(owner('alice'), 100 * DAY);
    const { id } = await settled(store, refund(a), unknown());
    const both = [refund(b), refund(a, { dedupKey: byTemplate('refund:2') })];
    await advance(50 * DAY);
    for (const again of both) expect((await store.claim(request(again))).operation.id).toBe(id);
    const { answer } = success();
    const done = { outcome: 'executed', answer, code: 'ok', by: 'ann' } as const;
    await store.reconcile(id, { ...done, holdMs: 1000, keyHoldMs: DAY });
    for (const again of both) expect((await store.claim(request(again))).operation.id).toBe(id);
    await advance(1000);
    expect((await store.claim(request(both[1]))).operation.id).toBe(id);
    expect((await store.claim(request(both[0]))).kind).toBe('mine');
  });

  test('an operation that a dead owner was sending keeps both keys', async () => {
    const { store, advance } = bench();
    const { id } = await sending(store, refund(a));
    await advance(LEASE);
    await store.registerOwner(owner('bob'), LEASE);
    for (const again of [refund(b), refund(a, { dedupKey: byTemplate('refund:2') })]) {
      const result = await store.claim(request({ owner: 'bob', ...again }));
      expect(result).toMatchObject({ kind: 'held', operation: { id, state: 'unknown' } });
    }
  });

  test('a compensated operation can be repeated, and its explicit key still replays it', async () => {
    const { store } = bench();
    const first = await settled(store, refund(a));
    await settled(store, { tool: 'undo' }, success({ releases: [first.id] }));
    expect(await store.get(first.id)).toMatchObject({ state: 'succeeded', holdsDedupKey: false });
    expect((await store.claim(request(refund(a)))).operation.id).toBe(first.id);
    expect((await store.claim(request(refund(b)))).kind).toBe('mine');
  });

  test('a half-done operation is resumed under either key, under the explicit key only with its arguments', async () => {
    const { store } = bench();
    const stop = async (operation: Awaited<ReturnType<typeof claimed>>) =>
      store.settle(fencingToken(operation), success({ state: 'claimed' }));
    const first = await sending(store, refund(a), 'one');
    await store.completeStep(fencingToken(first), 'one', '1');
    await stop(first);
    const other = refund(a, { dedupKey: byTemplate('refund:2'), argsHash: 'h2' });
    expect(await store.claim(request(other))).toMatchObject({ kind: 'held' });
    for (const again of [refund(a), refund(b)]) {
      const result = await store.claim(request(again));
      expect(result).toMatchObject({ kind: 'mine', resumed: true, operation: { id: first.id } });
      await stop(result.operation);
    }
    const beside = await sending(store, refund(b, { allowDuplicate: true }), 'one');
    await store.completeStep(fencingToken(beside), 'one', '1');
    await stop(beside);
    // An operation that holds the template does not block the one found by its explicit key.
    const atIt = await store.claim(request(refund(a)));
    const own = await store.claim(request(refund(b)));
    expect(own).toMatchObject({ kind: 'mine', resumed: true, operation: { id: beside.id } });
    await store.settle(fencingToken(own.operation), success());
    await stop(atIt.operation);
    // After compensation it is settled and cannot be resumed.
    await settled(store, { tool: 'undo' }, success({ releases: [first.id] }));
    expect(await store.get(first.id)).toMatchObject({ state: 'released' });
    const next = await store.claim(request(refund(a)));
    expect(next).toMatchObject({ kind: 'mine', resumed: false });
  });
}
