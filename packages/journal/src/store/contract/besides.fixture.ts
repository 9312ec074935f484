import { expect, test } from 'vitest';
import type { ClaimRequest, JournalStore } from '../store.js';
import {
  byContent,
  claimed,
  DAY,
  fencingToken,
  newId,
  plain,
  release,
  request,
  sending,
  settled,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

const CONTENT = 'e'.repeat(64);
const equal = { dedupKey: byContent(CONTENT), argsHash: CONTENT, content: CONTENT };
const executed = success({ holdMs: 0, content: { holdMs: DAY, windowMs: 0 } });

const claim = (store: JournalStore, besides: readonly string[], more: Partial<ClaimRequest> = {}) =>
  store.claim(request({ id: newId(), ...equal, besides, ...more }));

/** Claims that are separate from some operations with their content. */
export function besidesContract(bench: () => Bench): void {
  test.each(['once', 'idempotent'] as const)(
    'an operation of effect %s is created beside others, and each answers a repeat',
    async (effect) => {
      const { store } = bench();
      const own = { ...equal, effect };
      const first = await claimed(store, { ...own, besides: [] });
      const second = await claimed(store, { ...own, besides: [first.id] });
      const third = await claimed(store, { ...own, besides: [first.id, second.id] });
      const held = (operation: { readonly id: string }) => ({
        kind: 'held',
        operation: { id: operation.id },
      });
      expect(await claim(store, [second.id], { effect })).toMatchObject(held(first));
      expect(await claim(store, [first.id, third.id], { effect })).toMatchObject(held(second));
      expect(await claim(store, [first.id, second.id], { effect })).toMatchObject(held(third));
      for (const operation of [first, second, third]) {
        await store.send(fencingToken(operation), plain);
        await store.settle(fencingToken(operation), release());
      }
      expect(await claim(store, [], { effect })).toMatchObject({ kind: 'mine' });
    },
  );

  test('results that were not delivered answer before an older unknown operation', async () => {
    const { store } = bench();
    const lost = await sending(store, { ...equal, besides: [] });
    const done = [await settled(store, { ...equal, besides: [lost.id] }, executed)];
    done.push(await settled(store, { ...equal, besides: [lost.id, done[0]!.id] }, executed));
    await store.settle(fencingToken(lost), unknown());
    for (const { id } of done) {
      expect(await claim(store, [])).toMatchObject({ kind: 'held', operation: { id } });
      await store.markDelivered([{ id, agoMs: 0 }]);
    }
    for (let round = 0; round < 2; round += 1) {
      expect(
        await claim(
          store,
          done.map(({ id }) => id),
        ),
      ).toMatchObject({
        kind: 'held',
        operation: { id: lost.id, state: 'unknown' },
      });
    }
    await store.reconcile(lost.id, {
      outcome: 'not_executed',
      answer: '{}',
      code: 'ok',
      holdMs: 0,
      by: 'test',
    });
    expect(await claim(store, [])).toMatchObject({ kind: 'mine' });
  });

  test('an operation whose owner died answers a repeat as unknown', async () => {
    const { store, advance } = bench();
    const first = await sending(store, { ...equal, besides: [] });
    const second = await sending(store, { ...equal, besides: [first.id] });
    await store.settle(fencingToken(first), executed);
    await store.markDelivered([{ id: first.id, agoMs: 0 }]);
    await advance(DAY);
    expect(await claim(store, [])).toMatchObject({
      kind: 'held',
      operation: { id: second.id, state: 'unknown' },
    });
  });

  test('of concurrent calls beside the same operation one creates another', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    for (let round = 0; round < 5; round += 1) {
      const content = String(round).repeat(64);
      const own = { dedupKey: byContent(content), argsHash: content, content };
      const { id } = await claimed(store, { ...own, besides: [] });
      const results = await Promise.all(
        [0, 1, 2, 3, 4, 5].map((index) => claim(stores[index % 3]!, [id], own)),
      );
      expect(results.filter(({ kind }) => kind === 'mine')).toHaveLength(1);
      expect(new Set(results.map(({ operation }) => operation.id)).size).toBe(1);
    }
  });
}
