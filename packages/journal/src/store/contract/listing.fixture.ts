import { expect, test } from 'vitest';
import {
  byContent,
  byKey,
  claimed,
  settled,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

export function listingContract(bench: () => Bench): void {
  const ids = async (filter?: Parameters<Bench['store']['list']>[0]) =>
    (await bench().store.list(filter)).map(({ id }) => id);

  test('newest first, page after page', async () => {
    const { store } = bench();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await claimed(store, { tool: `t${i}` })).id);
    expect(await ids()).toEqual(made);
    const first = await ids({ limit: 2 });
    expect(first).toEqual(made.slice(0, 2));
    expect(await ids({ limit: 2, before: first[1]! })).toEqual(made.slice(2, 4));
    expect(await ids({ limit: 9, before: made[4]! })).toEqual([]);
    await expect(store.list({ before: 'op_none' })).rejects.toMatchObject({ reason: 'invalid' });
  });

  test('by how an id begins, letter by letter', async () => {
    const { store } = bench();
    const made = ['op_ab1', 'op_ab2', 'op_a_1', 'op_A', 'op_b%'];
    for (const id of made) await claimed(store, { id, tool: id });
    expect(await ids({ idPrefix: 'op_ab' })).toEqual(['op_ab2', 'op_ab1']);
    expect(await ids({ idPrefix: 'op_a_' })).toEqual(['op_a_1']);
    expect(await ids({ idPrefix: 'op_b%' })).toEqual(['op_b%']);
    expect(await ids({ idPrefix: 'op_c' })).toEqual([]);
  });

  test('by state, tool, account, identity, time and slot', async () => {
    const { store, advance } = bench();
    const start = await store.now();
    const a = await settled(store, { account: 'a' }, success({ holdMs: 1000 }));
    await advance(500);
    const b = await settled(store, { tool: 'like', dedupKey: byKey() }, unknown());
    await advance(500);
    const c = await claimed(store, { dedupKey: byContent("it's") });

    expect(await ids({ states: ['unknown', 'claimed'] })).toEqual([c.id, b.id]);
    expect(await ids({ states: [] })).toEqual([]);
    expect(await ids({ tool: 'like' })).toEqual([b.id]);
    expect(await ids({ account: 'a' })).toEqual([a.id]);
    expect(await ids({ dedupKey: byKey() })).toEqual([b.id]);
    expect(await ids({ dedupKey: byContent("it's"), states: ['claimed'] })).toEqual([c.id]);
    expect(await ids({ since: start + 500 })).toEqual([c.id, b.id]);
    expect(await ids({ until: start + 500 })).toEqual([a.id]);
    expect(await ids({ settledSince: start })).toEqual([a.id]);
    expect(await ids({ settledSince: start + 1 })).toEqual([]);
    expect(await ids({ holdsDedupKey: true })).toEqual([c.id, b.id]);
    expect(await ids({ holdsDedupKey: false })).toEqual([a.id]);
    expect(await ids({ holdsDedupKey: true, before: c.id, limit: 1 })).toEqual([b.id]);
  });

  test('counts states', async () => {
    const { store } = bench();
    await settled(store, { tool: 'a' });
    await settled(store, { tool: 'b' }, unknown());
    await claimed(store, { tool: 'c' });
    expect(await store.count(['unknown'])).toBe(1);
    expect(await store.count(['unknown', 'succeeded'])).toBe(2);
    expect(await store.count([])).toBe(0);
    expect(await store.get('op_none')).toBeUndefined();
  });
}
