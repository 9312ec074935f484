import { expect, test } from 'vitest';
import {
  byContent,
  byKey,
  claimed,
  fencingToken,
  LEASE,
  owner,
  plain,
  release,
  request,
  sending,
  settled,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

const found = {
  outcome: 'executed',
  answer: '{"data":{"id":"7"}}',
  code: 'ok',
  holdMs: 30_000,
  by: 'reconciler',
} as const;

export function settleContract(bench: () => Bench): void {
  test('stores the answer, the outcome and the hold time', async () => {
    const { store } = bench();
    const operation = await sending(store);
    const sent = (await store.get(operation.id))!;
    const now = await store.now();
    const answer = JSON.stringify({ data: { text: '🙂'.repeat(20_000) } });
    expect(await store.settle(fencingToken(operation), success({ answer }))).toBe(true);
    const { owner: _, ...rest } = sent;
    expect(await store.get(operation.id)).toEqual({
      ...rest,
      state: 'succeeded',
      outcome: 'executed',
      answer,
      code: 'ok',
      settledAt: now,
      heldUntil: now + 30_000,
    });
  });

  test('discards an operation that was never sent, without an audit row', async () => {
    const { store, another } = bench();
    const other = await another();
    const head = await store.auditHead();
    for (const dedupKey of [byContent('d'), byKey('key-dddddddddddddddd')]) {
      const operation = await claimed(store, { dedupKey });
      const ended = other.wait(operation.id, AbortSignal.timeout(10_000));
      expect(await store.settle(fencingToken(operation), release({ discard: true }))).toBe(true);
      expect(await ended).toBeUndefined();
      expect(await store.get(operation.id)).toBeUndefined();
      expect(await store.settle(fencingToken(operation), release({ discard: true }))).toBe(false);
      // Its dedup keys are free again.
      await store.settle(
        fencingToken(await claimed(store, { dedupKey })),
        release({ discard: true }),
      );
    }
    expect(await store.auditHead()).toEqual(head);
  });

  test('does not discard an operation that was sent', async () => {
    const { store } = bench();
    const operation = await sending(store);
    expect(await store.settle(fencingToken(operation), release({ discard: true }))).toBe(true);
    expect(await store.get(operation.id)).toMatchObject({ state: 'released' });
    expect((await store.auditRows(1, 100)).at(-1)).toMatchObject({ kind: 'settled' });
  });

  test('is accepted from the owner only, and once', async () => {
    const { store } = bench();
    const operation = await sending(store);
    const mine = fencingToken(operation);
    expect(await store.settle({ ...mine, owner: 'bob' }, success())).toBe(false);
    expect(await store.settle({ ...mine, fence: 9 }, success())).toBe(false);
    expect(await store.settle({ ...mine, id: 'op_none' }, success())).toBe(false);
    expect(await store.settle(mine, success())).toBe(true);
    expect(await store.settle(mine, release())).toBe(false);
    expect(await store.get(operation.id)).toMatchObject({ state: 'succeeded' });
  });

  test('settles an operation that was never sent, and holds a rejection', async () => {
    const { store } = bench();
    const never = await claimed(store);
    expect(await store.settle(fencingToken(never), release())).toBe(true);
    const rejected = await settled(
      store,
      {},
      success({ state: 'rejected', outcome: 'not_executed', code: 'upstream_rejected' }),
    );
    expect(await store.claim(request())).toEqual({ kind: 'held', operation: rejected });
  });

  test('is accepted after the lease expired, before a sweep', async () => {
    const { store, advance } = bench();
    const operation = await sending(store);
    await advance(LEASE);
    expect(await store.settle(fencingToken(operation), success())).toBe(true);
    expect(await store.get(operation.id)).toMatchObject({ state: 'succeeded' });
  });

  test.each([
    ['succeeded', success(), { state: 'reconciled', outcome: 'executed', holdsDedupKey: true }],
    [
      'rejected',
      success({ state: 'rejected', outcome: 'not_executed' }),
      { state: 'reconciled', outcome: 'not_executed', holdsDedupKey: true },
    ],
    ['released', release(), { state: 'reconciled', outcome: 'not_executed', holdsDedupKey: false }],
  ] as const)('a former owner who knows it %s reconciles it', async (_, settlement, end) => {
    const { store, advance } = bench();
    const operation = await sending(store);
    await advance(LEASE);
    await store.sweep();
    expect(await store.get(operation.id)).toMatchObject({ state: 'unknown', owner: 'alice' });
    expect(await store.settle(fencingToken(operation), settlement)).toBe(true);
    expect(await store.get(operation.id)).toMatchObject(end);
    expect(await store.settle(fencingToken(operation), settlement)).toBe(false);
  });

  test('a former owner that reports `unknown` no longer owns the operation', async () => {
    const { store, advance } = bench();
    const operation = await sending(store);
    await advance(LEASE);
    await store.sweep();
    expect(await store.settle(fencingToken(operation), unknown())).toBe(true);
    const after = (await store.get(operation.id))!;
    expect(after).toMatchObject({ state: 'unknown', code: 'outcome_unknown', holdsDedupKey: true });
    expect(after.owner).toBeUndefined();
    expect(await store.settle(fencingToken(operation), success())).toBe(false);
  });

  test('an owner that is still running may report the result later', async () => {
    const { store } = bench();
    const operation = await sending(store, {}, 'first');
    expect(await store.settle(fencingToken(operation), unknown({ stillRunning: true }))).toBe(true);
    expect(await store.get(operation.id)).toMatchObject({
      state: 'unknown',
      owner: 'alice',
      answer: unknown().answer,
      steps: [{ owner: 'alice' }],
    });
    expect(await store.settle(fencingToken(operation), success())).toBe(true);
    expect(await store.get(operation.id)).toMatchObject({ state: 'reconciled', code: 'ok' });
  });

  test('a compensated operation may be repeated, but keeps its explicit key', async () => {
    const { store } = bench();
    const liked = await settled(store, { tool: 'like' });
    const keyed = await settled(store, { tool: 'like', dedupKey: byKey() });
    const open = await sending(store, { tool: 'like', dedupKey: byContent('open') });
    const unlike = await sending(store, { tool: 'unlike' });
    const releases = [open.id, keyed.id, liked.id, 'op_none'];
    await store.settle(fencingToken(unlike), success({ holdMs: 0, releases }));
    expect((await store.claim(request({ tool: 'like' }))).kind).toBe('mine');
    expect((await store.claim(request({ tool: 'like', dedupKey: byKey() }))).kind).toBe('held');
    expect((await store.get(open.id))!.holdsDedupKey).toBe(true);
  });

  test('a compensated operation may be repeated from the send of its inverse on', async () => {
    const { store } = bench();
    const liked = await settled(store, { tool: 'like' });
    const keyed = await settled(store, { tool: 'like', dedupKey: byKey() });
    const unlike = await claimed(store, { tool: 'unlike' });
    const releases = [keyed.id, liked.id];
    expect((await store.claim(request({ tool: 'like' }))).kind).toBe('held');
    await store.send(fencingToken(unlike), { limits: [], releases });
    expect((await store.claim(request({ tool: 'like' }))).kind).toBe('mine');
    expect((await store.claim(request({ tool: 'like', dedupKey: byKey() }))).kind).toBe('held');
  });

  test('an inverse releases a half-done operation, but not one in flight', async () => {
    const { store } = bench();
    const half = await sending(store, { tool: 'thread' }, 'one');
    await store.completeStep(fencingToken(half), 'one', '1');
    const undo = async (tool: string) => {
      const inverse = await sending(store, { tool });
      await store.settle(fencingToken(inverse), success({ holdMs: 0, releases: [half.id] }));
    };
    await undo('delete');
    expect(await store.get(half.id)).toMatchObject({ state: 'claimed', holdsDedupKey: true });
    await store.settle(fencingToken(half), success({ state: 'claimed', holdMs: 0 }));
    await undo('delete again');
    expect(await store.get(half.id)).toMatchObject({ state: 'released', holdsDedupKey: false });
    expect(await store.claim(request({ tool: 'thread' }))).toMatchObject({
      kind: 'mine',
      resumed: false,
    });
  });

  test('an inverse that is reconciled as executed releases dedup keys, too', async () => {
    const { store } = bench();
    const liked = await settled(store, { tool: 'like' });
    const unlike = await settled(store, { tool: 'unlike' }, unknown());
    await store.reconcile(unlike.id, { ...found, releases: [liked.id] });
    expect((await store.claim(request({ tool: 'like' }))).kind).toBe('mine');
  });

  test('an unknown operation that was executed is reconciled and replayed', async () => {
    const { store } = bench();
    const { id } = await settled(store, {}, unknown());
    expect(await store.reconcile(id, { ...found, reason: 'read back' })).toBe(true);
    const now = await store.now();
    expect(await store.get(id)).toMatchObject({
      state: 'reconciled',
      outcome: 'executed',
      answer: found.answer,
      code: 'ok',
      settledAt: now,
      heldUntil: now + 30_000,
      holdsDedupKey: true,
    });
    expect(await store.reconcile(id, found)).toBe(false);
  });

  test('an unknown operation that was not executed releases its dedup key', async () => {
    const { store } = bench();
    const { id } = await settled(store, {}, unknown());
    expect(await store.reconcile(id, { ...found, outcome: 'not_executed' })).toBe(true);
    expect(await store.get(id)).toMatchObject({ outcome: 'not_executed', holdsDedupKey: false });
    expect((await store.claim(request())).kind).toBe('mine');
  });

  test('one of two concurrent reconciliations wins', async () => {
    const { store, another } = bench();
    const { id } = await settled(store, {}, unknown());
    const both = await Promise.all([
      store.reconcile(id, found),
      (await another()).reconcile(id, { ...found, outcome: 'not_executed' }),
    ]);
    expect(both.toSorted()).toEqual([false, true]);
  });

  test('in-flight and settled operations are not reconciled', async () => {
    const { store, advance } = bench();
    const flying = await sending(store);
    expect(await store.reconcile(flying.id, found)).toBe(false);
    await advance(LEASE);
    await store.registerOwner(owner('alice'), LEASE);
    await store.reconcile(flying.id, found);
    expect(await store.settle(fencingToken(flying), success())).toBe(false);
    expect(await store.send(fencingToken(flying), plain)).toEqual({ kind: 'lost' });
    expect(await store.reconcile('op_none', found)).toBe(false);
  });
}
