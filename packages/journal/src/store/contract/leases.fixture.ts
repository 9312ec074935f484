import { expect, test } from 'vitest';
import {
  type Bench,
  byContent,
  claimed,
  fencingToken,
  LEASE,
  newId,
  owner,
  plain,
  sending,
  settled,
  success,
  unknown,
} from './harness.fixture.js';

export function leaseContract(bench: () => Bench): void {
  test('an owner is found with its lease', async () => {
    const { store } = bench();
    const now = await store.now();
    await store.registerOwner(owner('carol', ['post', 'like']), 1000);
    expect(await store.owner('carol')).toEqual({
      ...owner('carol', ['post', 'like']),
      leaseUntil: now + 1000,
    });
    expect(await store.owner('unregistered')).toBeUndefined();
  });

  test('a tool has a live owner until the lease of its last owner ends', async () => {
    const { store, advance } = bench();
    await store.registerOwner(owner('carol', ['reply', 'like']), 1000);
    await store.registerOwner(owner('dave', ['reply']), 2000);
    const served = () => Promise.all(['reply', 'like', 'rep'].map(store.hasLiveOwner));
    expect(await served()).toEqual([true, true, false]);
    await advance(1000);
    expect(await served()).toEqual([true, false, false]);
    await store.deregisterOwner('dave');
    expect(await served()).toEqual([false, false, false]);
  });

  test('a lease is renewed while it is live, and not after', async () => {
    const { store, advance } = bench();
    await advance(LEASE - 1);
    expect(await store.renew('alice', LEASE)).toBe(true);
    await advance(LEASE - 1);
    expect(await store.renew('alice', LEASE)).toBe(true);
    await advance(LEASE);
    expect(await store.renew('alice', LEASE)).toBe(false);
    expect(await store.renew('unregistered', LEASE)).toBe(false);
  });

  test('a sweep does not affect owners with a live lease', async () => {
    const { store, advance } = bench();
    const first = await claimed(store);
    await advance(LEASE - 1);
    expect(await store.sweep()).toEqual([]);
    expect(await store.get(first.id)).toEqual(first);
  });

  test('a dead owner’s claim is released and its send unknown, each returned once', async () => {
    const { store, another, advance } = bench();
    const one = await claimed(store, { dedupKey: byContent('1') });
    const two = await sending(store, { dedupKey: byContent('2') });
    const three = await sending(store, { dedupKey: byContent('3'), effect: 'idempotent' });
    const live = await claimed(store, { dedupKey: byContent('4'), owner: 'bob' });
    await advance(LEASE - 1);
    await store.renew('bob', LEASE);
    await advance(1);

    const other = await another();
    const swept = (await Promise.all([store.sweep(), other.sweep()])).flat();
    const byId = Object.fromEntries(swept.map((operation) => [operation.id, operation]));
    expect(swept).toHaveLength(3);
    expect(byId[one.id]).toMatchObject({ state: 'released', outcome: 'not_executed' });
    expect(byId[two.id]).toMatchObject({ state: 'unknown', outcome: 'unknown', owner: 'alice' });
    expect(byId[three.id]).toMatchObject({ state: 'released', outcome: 'unknown' });
    expect([one, two, three].map(({ id }) => byId[id]!.holdsDedupKey)).toEqual([
      false,
      true,
      false,
    ]);
    expect(await store.get(two.id)).toEqual(byId[two.id]);
    expect(await store.get(live.id)).toEqual(live);
    expect(await store.sweep()).toEqual([]);
  });

  test('deregistration ends the claims of an owner', async () => {
    const { store } = bench();
    const one = await claimed(store, { dedupKey: byContent('1') });
    const two = await sending(store, { dedupKey: byContent('2') });
    await store.deregisterOwner('alice');
    expect(await store.get(one.id)).toMatchObject({ state: 'released' });
    expect(await store.get(two.id)).toMatchObject({ state: 'unknown', owner: 'alice' });
    expect(await store.renew('alice', LEASE)).toBe(false);
    expect(await store.owner('alice')).toMatchObject({ pid: 42 });
    await store.deregisterOwner('unregistered');
  });

  test('a dead owner can be evicted before its lease expires', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    await store.evictOwner('alice');
    expect(await store.get(operation.id)).toMatchObject({ state: 'released' });
    expect(await store.renew('alice', LEASE)).toBe(false);
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('lost');
    await store.evictOwner('unregistered');
  });

  test('registering again ends the earlier claims of an owner', async () => {
    const { store, advance } = bench();
    const operation = await claimed(store);
    await advance(LEASE);
    await store.registerOwner(owner('alice'), LEASE);
    expect(await store.get(operation.id)).toMatchObject({ state: 'released' });
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('lost');
  });

  test('the row of a former owner is kept while its operation is unknown', async () => {
    const { store, advance } = bench();
    await store.registerOwner(owner('carol'), LEASE);
    const lost = await sending(store, { owner: 'carol', dedupKey: byContent(newId()) });
    await store.registerOwner(owner('dave'), LEASE);
    await settled(store, { dedupKey: byContent(newId()) }, unknown());
    await advance(LEASE);
    await store.sweep();
    await advance(1000);
    await store.prune(await store.now());
    expect((await store.get(lost.id))!.owner).toBe('carol');
    expect(await store.owner('carol')).toBeDefined();
    expect(await store.owner('dave')).toBeUndefined();
  });
}

const TIMEOUT_MS = 5000;

export function waitContract(bench: () => Bench): void {
  test('a wait resolves when another process settles the operation', async () => {
    const { store, another } = bench();
    const operation = await sending(store);
    const other = await another();
    const waiting = [
      other.wait(operation.id, AbortSignal.timeout(TIMEOUT_MS)),
      other.wait(operation.id, AbortSignal.timeout(TIMEOUT_MS)),
      store.wait(operation.id, AbortSignal.timeout(TIMEOUT_MS)),
    ];
    await store.settle(fencingToken(operation), success());
    for (const seen of await Promise.all(waiting)) {
      expect(seen).toMatchObject({ id: operation.id, state: 'succeeded', code: 'ok' });
    }
  });

  test('a wait continues while the operation is only sent', async () => {
    const { store, another } = bench();
    const operation = await claimed(store);
    const seen = (await another()).wait(operation.id, AbortSignal.timeout(TIMEOUT_MS));
    await store.send(fencingToken(operation), plain);
    await store.settle(fencingToken(operation), unknown());
    expect(await seen).toMatchObject({ state: 'unknown' });
  });

  test('a wait resolves at once for an operation that is not in flight', async () => {
    const { store } = bench();
    const { id } = await settled(store);
    expect(await store.wait(id, new AbortController().signal)).toMatchObject({ id });
    expect(await store.wait('op_none', new AbortController().signal)).toBeUndefined();
  });

  test('a wait resolves to the current state at the signal', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    const stop = new AbortController();
    const seen = store.wait(operation.id, stop.signal);
    stop.abort();
    expect(await seen).toEqual(operation);
    expect(await store.wait(operation.id, AbortSignal.abort())).toEqual(operation);
  });

  test('a wait resolves when the owner is swept or the operation stops between steps', async () => {
    const { store, another, advance } = bench();
    const operation = await claimed(store);
    await store.completeStep(fencingToken(operation), 'first', '1');
    const other = await another();
    const first = other.wait(operation.id, AbortSignal.timeout(TIMEOUT_MS));
    await advance(LEASE);
    await store.sweep();
    expect(await first).toMatchObject({ state: 'claimed', holdsDedupKey: true });

    await store.registerOwner(owner('bob'), LEASE);
    const again = await claimed(store, { owner: 'bob' });
    const second = other.wait(operation.id, AbortSignal.timeout(TIMEOUT_MS));
    await store.settle(fencingToken(again), success({ state: 'claimed' }));
    expect((await second)!.owner).toBeUndefined();
  });
}
