import { expect, test } from 'vitest';
import type { ClaimRequest } from '../store.js';
import {
  byContent,
  byKey,
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
  type Bench,
} from './harness.fixture.js';

export function claimContract(bench: () => Bench): void {
  test('a new operation belongs to the caller and holds its dedup key', async () => {
    const { store } = bench();
    const asked = request({ dedupKey: byKey(), args: '{"text":"grüße 👋"}' });
    const result = await store.claim(asked);
    expect(result).toEqual({
      kind: 'mine',
      resumed: false,
      operation: {
        id: asked.id,
        account: 'main',
        tool: 'post',
        effect: 'once',
        dedupKey: byKey(),
        argsHash: 'h1',
        args: '{"text":"grüße 👋"}',
        state: 'claimed',
        fence: 1,
        owner: 'alice',
        correlationId: 'c-1',
        createdAt: await store.now(),
        holdsDedupKey: true,
        steps: [],
      },
    });
    expect(await store.get(asked.id)).toEqual(result.operation);
  });

  test('a repeated claim is held, whatever its caller and its other arguments', async () => {
    const { store, another } = bench();
    const first = await claimed(store);
    const again = await (await another()).claim(request({ owner: 'bob', argsHash: 'h2' }));
    expect(again).toEqual({ kind: 'held', operation: first });
  });

  test('another account, tool, kind or value is another dedup key', async () => {
    const { store } = bench();
    await claimed(store);
    const others: Partial<ClaimRequest>[] = [
      { account: 'other' },
      { tool: 'reply' },
      { dedupKey: { by: 'template', value: byContent().value } },
      { dedupKey: byContent('d'.repeat(64)) },
      { dedupKey: byKey() },
    ];
    for (const other of others) expect((await store.claim(request(other))).kind).toBe('mine');
  });

  test('exactly one of many concurrent claims wins', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    const results = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        stores[i % 3]!.claim(request({ owner: i % 2 ? 'alice' : 'bob' })),
      ),
    );
    const [winner, ...more] = results.filter(({ kind }) => kind === 'mine');
    expect(more).toEqual([]);
    expect(new Set(results.map(({ operation }) => operation.id))).toEqual(
      new Set([winner!.operation.id]),
    );
    expect(await store.count(['claimed'])).toBe(1);
  });

  test('an owner without a live lease claims nothing', async () => {
    const { store, advance } = bench();
    await expect(store.claim(request({ owner: 'unregistered' }))).rejects.toMatchObject({
      name: 'JournalError',
      reason: 'lapsed',
    });
    await advance(LEASE);
    await expect(store.claim(request())).rejects.toMatchObject({ reason: 'lapsed' });
    expect(await store.list()).toEqual([]);
  });

  test('a settled operation is replayed until its hold ends, on the store’s clock', async () => {
    const { store, advance } = bench();
    const first = await settled(store);
    await advance(LEASE - 1);
    await store.renew('alice', DAY);
    await advance(30_000 - LEASE);
    expect(await store.claim(request())).toEqual({ kind: 'held', operation: first });
    await advance(1);
    const next = await claimed(store);
    expect(next.id).not.toBe(first.id);
    expect(await store.get(first.id)).toMatchObject({ state: 'succeeded', holdsDedupKey: false });
  });

  test('the hold starts at settlement', async () => {
    const { store, advance } = bench();
    const operation = await sending(store);
    await advance(LEASE - 1);
    await store.renew('alice', DAY);
    await advance(60_000);
    await store.settle(fencingToken(operation), success({ holdMs: 30_000 }));
    await advance(29_999);
    expect((await store.claim(request())).kind).toBe('held');
  });

  test('without a hold, or released, the dedup key is free at once', async () => {
    const { store } = bench();
    await settled(store, {}, success({ holdMs: 0 }));
    await settled(store, {}, release());
    expect((await store.claim(request())).kind).toBe('mine');
  });

  test('an unknown operation holds its dedup key indefinitely', async () => {
    const { store, advance } = bench();
    const { id } = await settled(store, {}, unknown({ holdMs: 0 }));
    await advance(400 * DAY);
    await store.registerOwner(owner('alice'), LEASE);
    const again = await store.claim(request());
    expect(again).toMatchObject({ kind: 'held', operation: { id, state: 'unknown' } });
  });

  test('an intended duplicate takes the dedup key of a settled operation when it succeeds', async () => {
    const { store } = bench();
    const first = await settled(store);
    const second = await sending(store, { allowDuplicate: true });
    expect(second.holdsDedupKey).toBe(false);
    expect((await store.claim(request())).operation.id).toBe(first.id);
    await store.settle(fencingToken(second), success());
    expect((await store.get(first.id))!.holdsDedupKey).toBe(false);
    const again = await store.claim(request());
    expect(again).toMatchObject({
      kind: 'held',
      operation: { id: second.id, holdsDedupKey: true },
    });
  });

  test('a failed duplicate leaves the dedup key with the executed operation', async () => {
    const { store, advance } = bench();
    const first = await settled(store, {}, success({ holdMs: DAY }));
    const refused = success({ state: 'rejected', outcome: 'not_executed', holdMs: DAY });
    for (const end of [release(), refused, unknown()]) {
      const duplicate = await claimed(store, { allowDuplicate: true });
      await store.settle(fencingToken(duplicate), end);
    }
    await claimed(store, { allowDuplicate: true });
    await advance(LEASE);
    await store.sweep();
    await store.registerOwner(owner('alice'), LEASE);
    const again = await store.claim(request());
    expect(again).toMatchObject({ kind: 'held', operation: { id: first.id } });
  });

  test('a duplicate takes the dedup key when it is reconciled as executed', async () => {
    const { store } = bench();
    await settled(store);
    const lost = await settled(store, { allowDuplicate: true }, unknown());
    const verdict = { answer: '{}', code: 'ok', holdMs: 30_000, by: 'ana' };
    await store.reconcile(lost.id, { ...verdict, outcome: 'executed' });
    expect((await store.claim(request())).operation.id).toBe(lost.id);
  });

  test('a duplicate beside an unsettled operation has no dedup key', async () => {
    const { store } = bench();
    const first = await claimed(store);
    const second = await claimed(store, { allowDuplicate: true });
    expect(second.holdsDedupKey).toBe(false);
    await store.send(fencingToken(second), plain);
    await store.settle(fencingToken(second), success());
    expect(await store.get(second.id)).toMatchObject({ state: 'succeeded', holdsDedupKey: false });
    expect((await store.claim(request())).operation.id).toBe(first.id);
  });

  test('`allowDuplicate` is ignored for an explicit key', async () => {
    const { store } = bench();
    const dedupKey = byKey();
    const first = await settled(store, { dedupKey });
    const again = await store.claim(request({ dedupKey, allowDuplicate: true }));
    expect(again).toEqual({ kind: 'held', operation: first });
  });

  test('a claim takes the dedup key of a dead owner that sent nothing', async () => {
    const { store, advance } = bench();
    const first = await claimed(store);
    await advance(LEASE);
    await store.registerOwner(owner('bob'), LEASE);
    const second = await claimed(store, { owner: 'bob' });
    expect(await store.get(first.id)).toMatchObject({ state: 'released', outcome: 'not_executed' });
    expect(second).toMatchObject({ fence: 1, owner: 'bob', holdsDedupKey: true });
  });

  test('a claim after a dead owner that was sending finds an unknown operation', async () => {
    const { store, advance } = bench();
    const { id } = await sending(store);
    await advance(LEASE);
    await store.registerOwner(owner('bob'), LEASE);
    const result = await store.claim(request({ owner: 'bob' }));
    expect(result).toMatchObject({ kind: 'held', operation: { id, state: 'unknown' } });
  });

  test('stores long and unusual text unchanged', async () => {
    const { store } = bench();
    const strange = `${'x'.repeat(100_000)}'";--\\ \u2028 🙈`;
    const args = JSON.stringify({ strange, nul: '\0', lone: '\uD800' });
    const dedupKey = { by: 'template', value: `reply:${strange}` } as const;
    const { id } = await claimed(store, { id: newId(), args, dedupKey });
    expect(await store.get(id)).toMatchObject({ args, dedupKey });
    expect((await store.claim(request({ dedupKey }))).kind).toBe('held');
  });

  test('characters that a database rejects do not fail a claim', async () => {
    const { store } = bench();
    const dedupKey = { by: 'template', value: 'a\0b\uD800' } as const;
    const { id } = await claimed(store, { dedupKey, account: 'm\0', correlationId: '\uDFFF' });
    expect((await store.claim(request({ dedupKey, account: 'm\0' }))).operation.id).toBe(id);
  });
}
