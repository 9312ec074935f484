import { expect, test } from 'vitest';
import {
  claimed,
  fencingToken,
  LEASE,
  owner,
  plain,
  sending,
  settled,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

const PATIENCE = 5000;

export function waitContract(bench: () => Bench): void {
  test('resolves when another process settles it', async () => {
    const { store, another } = bench();
    const operation = await sending(store);
    const other = await another();
    const waiting = [
      other.wait(operation.id, AbortSignal.timeout(PATIENCE)),
      other.wait(operation.id, AbortSignal.timeout(PATIENCE)),
      store.wait(operation.id, AbortSignal.timeout(PATIENCE)),
    ];
    await store.settle(fencingToken(operation), success());
    for (const seen of await Promise.all(waiting)) {
      expect(seen).toMatchObject({ id: operation.id, state: 'succeeded', code: 'ok' });
    }
  });

  test('goes on waiting while it is only sent', async () => {
    const { store, another } = bench();
    const operation = await claimed(store);
    const seen = (await another()).wait(operation.id, AbortSignal.timeout(PATIENCE));
    await store.send(fencingToken(operation), plain);
    await store.settle(fencingToken(operation), unknown());
    expect(await seen).toMatchObject({ state: 'unknown' });
  });

  test('resolves at once for what nobody works on', async () => {
    const { store } = bench();
    const { id } = await settled(store);
    expect(await store.wait(id, new AbortController().signal)).toMatchObject({ id });
    expect(await store.wait('op_none', new AbortController().signal)).toBeUndefined();
  });

  test('gives the last known state at the signal', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    const stop = new AbortController();
    const seen = store.wait(operation.id, stop.signal);
    stop.abort();
    expect(await seen).toEqual(operation);
    expect(await store.wait(operation.id, AbortSignal.abort())).toEqual(operation);
  });

  test('resolves when a dead owner is swept, or it stops half way', async () => {
    const { store, another, advance } = bench();
    const operation = await claimed(store);
    await store.completeStep(fencingToken(operation), 'first', '1');
    const other = await another();
    const first = other.wait(operation.id, AbortSignal.timeout(PATIENCE));
    await advance(LEASE);
    await store.sweep();
    expect(await first).toMatchObject({ state: 'claimed', holdsDedupKey: true });

    await store.registerOwner(owner('bob'), LEASE);
    const again = await claimed(store, { owner: 'bob' });
    const second = other.wait(operation.id, AbortSignal.timeout(PATIENCE));
    await store.settle(fencingToken(again), success({ state: 'claimed' }));
    expect((await second)!.owner).toBeUndefined();
  });
}
