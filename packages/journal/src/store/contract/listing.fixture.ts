import { expect, test } from 'vitest';
import type { Operation } from '../../operation.js';
import type { CallRow } from '../activity.js';
import { waiting } from './approvals.fixture.js';
import {
  type Bench,
  byContent,
  byKey,
  claimed,
  DAY,
  fencingToken,
  LEASE,
  newId,
  owner,
  release,
  request,
  sending,
  settled,
  success,
  unknown,
} from './harness.fixture.js';

export function listingContract(bench: () => Bench): void {
  const ids = async (filter?: Parameters<Bench['store']['list']>[0]) =>
    (await bench().store.list(filter)).map(({ id }) => id);

  test('lists the newest first, page by page', async () => {
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

  test('filters by id prefix, case-sensitively', async () => {
    const { store } = bench();
    const made = ['op_ab1', 'op_ab2', 'op_a_1', 'op_A', 'op_b%'];
    for (const id of made) await claimed(store, { id, tool: id });
    expect(await ids({ idPrefix: 'op_ab' })).toEqual(['op_ab2', 'op_ab1']);
    expect(await ids({ idPrefix: 'op_a_' })).toEqual(['op_a_1']);
    expect(await ids({ idPrefix: 'op_b%' })).toEqual(['op_b%']);
    expect(await ids({ idPrefix: 'op_c' })).toEqual([]);
  });

  test('filters by state, tool, account, dedup key, time and hold', async () => {
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

const HOUR = DAY / 24;

const call = (n: number, changes: Partial<CallRow> = {}): CallRow => ({
  correlationId: `c-${n}`,
  tool: 'search',
  code: 'ok',
  at: 1000 * n,
  elapsedMs: 12.5,
  attempts: 2,
  waitedMs: 12.5,
  ...changes,
});

export function retentionContract(bench: () => Bench): void {
  test('prunes settled operations, and keeps those that are still needed', async () => {
    const { store, advance } = bench();
    const next = () => ({ dedupKey: byContent(newId()) });
    const gone = [
      await settled(store, next(), success({ holdMs: 1000 })),
      await settled(store, next(), release()),
      await settled(store, next(), success({ state: 'rejected', holdMs: 0 })),
    ];
    await advance(DAY);
    await store.registerOwner(owner('alice'), DAY);
    const kept = [
      await settled(store, next(), success({ holdMs: 60 * DAY })),
      await settled(store, next(), unknown()),
      await waiting(bench(), next(), { expiresInMs: 90 * DAY }),
      await sending(store, next()),
    ];
    await store.recordCalls([call(1), call(2, { at: await store.now() })]);
    await advance(30 * DAY);
    await store.registerOwner(owner('alice'), DAY);
    const young = await settled(store, next(), success({ holdMs: 0 }));
    await advance(1);
    await store.recordCalls([call(3, { at: await store.now() })]);

    const before = await store.auditHead();
    expect(await store.prune((await store.now()) - DAY)).toBe(gone.length);
    for (const { id } of gone) expect(await store.get(id)).toBeUndefined();
    for (const { id } of [...kept, young]) expect(await store.get(id)).toBeDefined();
    expect(await store.auditHead()).toEqual(before);
    expect((await store.calls()).map(({ correlationId }) => correlationId)).toEqual(['c-3']);
  });

  test('keeps executed operations near an unknown one until that is resolved', async () => {
    const { store, advance } = bench();
    const next = () => ({ dedupKey: byContent(newId()) });
    const at = async (hours: number): Promise<void> => {
      await advance(hours * HOUR);
      await store.registerOwner(owner('alice'), DAY);
    };
    const over = success({ holdMs: 1000 });
    const before = await settled(store, next(), over);
    await at(1);
    const near = await settled(store, next(), over);
    const refused = await settled(
      store,
      next(),
      success({ state: 'rejected', outcome: 'not_executed' }),
    );
    const lost = await settled(store, next(), unknown());
    await at(0.5);
    const soonAfter = await settled(store, next(), over);
    await at(1);
    const after = await settled(store, next(), over);
    await at(40 * 24);

    const prune = async () => store.prune((await store.now()) - DAY);
    const areThere = async (all: readonly Operation[]) => {
      const found = await Promise.all(all.map(({ id }) => store.get(id)));
      return found.map((one) => one !== undefined);
    };
    expect(await prune()).toBe(3);
    expect(await areThere([before, near, refused, lost, soonAfter, after])).toEqual([
      false,
      true,
      false,
      true,
      true,
      false,
    ]);
    await store.reconcile(lost.id, {
      outcome: 'not_executed',
      answer: '{}',
      code: 'ok',
      holdMs: 0,
      by: 'ana',
    });
    expect(await prune()).toBe(2);
    expect(await areThere([near, lost, soonAfter])).toEqual([false, true, false]);
  });

  test('the sender of an open step is kept until the step is resolved', async () => {
    const { store, advance } = bench();
    const { id } = await sending(store, {}, 'first');
    await advance(LEASE);
    await store.sweep();
    await store.registerOwner(owner('bob'), LEASE);
    const taken = (await store.takeOver(id, 'bob', 1))!;
    await store.settle(fencingToken(taken), unknown());
    expect((await store.get(id))?.owner).toBeUndefined();
    await advance(60 * DAY);
    await store.prune((await store.now()) - DAY);
    expect(await store.owner('alice')).toMatchObject({ pid: 42 });
    expect(await store.owner('bob')).toBeUndefined();
  });

  test('prunes in batches, and the dedup keys are free afterwards', async () => {
    const { store, advance } = bench();
    const { id } = await settled(store, {}, success({ holdMs: 10 }));
    await advance(20);
    expect(await store.prune(await store.now())).toBe(1);
    expect(await store.prune(await store.now())).toBe(0);
    expect((await store.claim(request())).kind).toBe('mine');
    expect(await store.get(id)).toBeUndefined();
  });

  test('the first value of a property is kept, whichever process sets it', async () => {
    const { store, another } = bench();
    expect(await store.meta('key_id')).toBeUndefined();
    const other = await another();
    const both = await Promise.all([
      store.initMeta('key_id', 'one'),
      other.initMeta('key_id', 'two'),
    ]);
    expect(both[0]).toBe(both[1]);
    expect(await store.meta('key_id')).toBe(both[0]);
    expect(await store.initMeta('key_id', 'three')).toBe(both[0]);
  });
}
