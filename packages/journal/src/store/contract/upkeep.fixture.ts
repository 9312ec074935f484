import { expect, test } from 'vitest';
import type { Operation } from '../../operation.js';
import type { CallRow } from '../store.js';
import { waiting } from './approvals.fixture.js';
import {
  byContent,
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
  type Bench,
} from './harness.fixture.js';

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

export function upkeepContract(bench: () => Bench): void {
  test('calls are kept, newest first', async () => {
    const { store } = bench();
    await store.recordCalls([]);
    const third = call(3, { account: 'main', operationId: 'op_1', code: 'timeout' });
    await store.recordCalls([call(1), call(2)]);
    await store.recordCalls([third]);
    expect(await store.calls()).toEqual([third, call(2), call(1)]);
    expect(await store.calls({ limit: 1 })).toEqual([third]);
    expect(await store.calls({ since: 2000 })).toEqual([third, call(2)]);
  });

  test('calls have a bound: the oldest make room', async () => {
    const { store } = bench();
    for (let page = 0; page < 4; page++) {
      await store.recordCalls(Array.from({ length: 500 }, (_, i) => call(page * 500 + i)));
    }
    const kept = await store.calls({ limit: 5000 });
    expect(kept).toHaveLength(1000);
    expect(kept[0]).toEqual(call(1999));
  });

  test('what settled long ago leaves, what somebody needs stays', async () => {
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

  test('what was done when something was sent whose end nobody knows stays as long as that', async () => {
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

  test('who may still be about to send a step is known until the step is cleared up', async () => {
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

  test('many are pruned, and a pruned slot is free', async () => {
    const { store, advance } = bench();
    const { id } = await settled(store, {}, success({ holdMs: 10 }));
    await advance(20);
    expect(await store.prune(await store.now())).toBe(1);
    expect(await store.prune(await store.now())).toBe(0);
    expect((await store.claim(request())).kind).toBe('mine');
    expect(await store.get(id)).toBeUndefined();
  });

  test('the first value of a fact stays, whoever sets it', async () => {
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
