import { expect, test } from 'vitest';
import {
  claimed,
  DAY,
  fencingToken,
  LEASE,
  owner,
  plain,
  request,
  sending,
  settled,
  success,
  type Bench,
} from './harness.fixture.js';

const LOST = { kind: 'lost' };

export function sendContract(bench: () => Bench): void {
  test('marks the operation and says when', async () => {
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

  test('is lost for another owner, another fence or no operation', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    const mine = fencingToken(operation);
    expect(await store.send({ ...mine, owner: 'bob' }, plain)).toEqual(LOST);
    expect(await store.send({ ...mine, fence: 2 }, plain)).toEqual(LOST);
    expect(await store.send({ ...mine, id: 'op_none' }, plain)).toEqual(LOST);
    expect(await store.get(operation.id)).toEqual(operation);
  });

  test('is lost once the lease is over, also before anybody swept', async () => {
    const { store, advance } = bench();
    const operation = await claimed(store);
    await advance(LEASE);
    expect(await store.send(fencingToken(operation), plain)).toEqual(LOST);
    expect(await store.get(operation.id)).toEqual(operation);
  });

  test('is lost for a process that slept while others swept, renewed or not', async () => {
    const { store, another, advance } = bench();
    const operation = await claimed(store);
    await advance(LEASE);
    await (await another()).sweep();
    expect(await store.renew('alice', LEASE)).toBe(false);
    await store.registerOwner(owner('alice'), LEASE);
    expect(await store.send(fencingToken(operation), plain)).toEqual(LOST);
  });

  test('a live lease that was renewed still sends', async () => {
    const { store, advance } = bench();
    const operation = await claimed(store);
    for (let i = 0; i < 5; i++) {
      await advance(LEASE - 1);
      expect(await store.renew('alice', LEASE)).toBe(true);
    }
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
  });

  test('a further attempt of the same owner is granted, not of anybody else', async () => {
    const { store } = bench();
    const operation = await sending(store);
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
    expect(await store.send({ ...fencingToken(operation), owner: 'bob' }, plain)).toEqual(LOST);
  });

  test('what settled is never sent again', async () => {
    const { store } = bench();
    const operation = await settled(store);
    expect(await store.send({ ...fencingToken(operation), owner: 'alice' }, plain)).toEqual(LOST);
  });

  test('two owners never both send: one of many slot holders does', async () => {
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
