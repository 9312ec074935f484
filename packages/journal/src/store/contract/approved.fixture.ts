import { expect, test } from 'vitest';
import { decision, waiting } from './approvals.fixture.js';
import {
  byContent,
  claimed,
  DAY,
  fencingToken,
  LEASE,
  newId,
  owner,
  plain,
  release,
  success,
  type Bench,
} from './harness.fixture.js';

export function approvedContract(bench: () => Bench): void {
  const approved = async (changes: Parameters<typeof waiting>[1] = {}) => {
    const operation = await waiting(bench(), { dedupKey: byContent(newId()), ...changes });
    await bench().store.decideApproval(operation.id, decision());
    return operation;
  };

  test('an approved operation is taken once, by an owner that serves the tool', async () => {
    const { store, another } = bench();
    const { id } = await approved();
    expect(await store.takeApproved('bob', ['like'])).toBeUndefined();
    expect(await store.takeApproved('bob', [])).toBeUndefined();
    const other = await another();
    const taken = await Promise.all([
      store.takeApproved('alice', ['like', 'post']),
      other.takeApproved('bob', ['post']),
      other.takeApproved('bob', ['post']),
    ]);
    const [mine, ...more] = taken.filter((operation) => operation !== undefined);
    expect(more).toEqual([]);
    expect(mine).toMatchObject({ id, state: 'claimed', fence: 2 });
    expect((await store.send(fencingToken(mine!), plain)).kind).toBe('sent');
    expect(await store.settle(fencingToken(mine!), success())).toBe(true);
    expect((await store.decideApproval(id, decision())).kind).toBe('already');
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
  });

  test('a further send clears the result of the previous attempt', async () => {
    const { store, advance } = bench();
    const { id } = await approved();
    const first = await store.takeApproved('alice', ['post']);
    expect((await store.send(fencingToken(first!), plain)).kind).toBe('sent');
    const answer = '{"error":{"code":"x_forbidden","outcome":"not_executed"}}';
    await store.settle(fencingToken(first!), {
      state: 'awaiting_approval',
      outcome: 'not_executed',
      code: 'x_forbidden',
      answer,
      holdMs: 10,
    });
    expect(await store.get(id)).toMatchObject({ outcome: 'not_executed', answer });
    await advance(10);
    const again = await store.takeApproved('alice', ['post']);
    expect((await store.send(fencingToken(again!), plain)).kind).toBe('sent');
    const sending = await store.get(id);
    expect(sending).toMatchObject({ state: 'sending' });
    expect(sending).not.toHaveProperty('outcome');
    expect(sending).not.toHaveProperty('code');
    expect(sending).not.toHaveProperty('answer');
  });

  test('concurrent owners take different operations, the earliest decision first', async () => {
    const { store, another, advance } = bench();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      ids.push((await approved()).id);
      await advance(10);
    }
    expect((await store.takeApproved('alice', ['post']))!.id).toBe(ids[0]);
    const other = await another();
    const taken = await Promise.all([
      store.takeApproved('alice', ['post']),
      other.takeApproved('bob', ['post']),
    ]);
    expect(new Set(taken.map((operation) => operation?.id))).toEqual(new Set(ids.slice(1)));
  });

  test('a scheduled operation is taken at its time, once, and does not wait for an operator', async () => {
    const { store, another, advance } = bench();
    const scheduledFor = (await store.now()) + 5000;
    const scheduled = { scheduledFor, byPolicy: true } as const;
    const { id } = await waiting(bench(), { dedupKey: byContent(newId()) }, scheduled);
    expect(await store.undecided()).toBe(0);
    expect(await store.takeNotifications(10)).toEqual([]);
    expect((await store.decideApproval(id, decision())).kind).toBe('already');
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
    await advance(5000);
    const other = await another();
    const taken = await Promise.all([
      store.takeApproved('alice', ['post']),
      other.takeApproved('bob', ['post']),
    ]);
    const [mine, ...more] = taken.filter((operation) => operation !== undefined);
    expect(more).toEqual([]);
    expect(mine).toMatchObject({ id, approval: { decidedBy: 'policy', byPolicy: true } });
    // Stricter rules: now an operator has to decide.
    const { rule, explanation, hash, expiresAt } = mine!.approval!;
    const request = { rule, explanation, hash, expiresAt, encryptedArgs: 'e', answer: '{}' };
    const asked = await store.awaitApproval(fencingToken(mine!), request);
    expect(asked).toMatchObject({ state: 'awaiting_approval' });
    expect(await store.undecided()).toBe(1);
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
  });

  test('an approved operation waits for its time too', async () => {
    const { store, advance } = bench();
    const scheduledFor = (await store.now()) + 5000;
    const { id } = await waiting(bench(), { dedupKey: byContent(newId()) }, { scheduledFor });
    expect(await store.undecided()).toBe(1);
    await store.decideApproval(id, decision());
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
    await advance(5000);
    expect(await store.takeApproved('alice', ['post'])).toMatchObject({ id });
  });

  test('a withdrawn operation is not taken, and its dedup key is free', async () => {
    const { store } = bench();
    const dedupKey = byContent(newId());
    const { id } = await approved({ dedupKey });
    expect(await store.withdraw('op_absent', 'agent')).toBe(false);
    expect(await store.withdraw(id, 'agent')).toBe(true);
    expect(await store.withdraw(id, 'agent')).toBe(false);
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
    expect(await store.get(id)).toMatchObject({
      state: 'denied',
      outcome: 'not_executed',
      code: 'cancelled',
    });
    expect((await claimed(store, { dedupKey })).id).not.toBe(id);
    const kinds = (await store.auditRows(1, 100)).map(({ kind }) => kind);
    expect(kinds).toContain('withdrawn');
    // An operation that is being executed cannot be withdrawn.
    const other = await approved();
    await store.takeApproved('alice', ['post']);
    expect(await store.withdraw(other.id, 'agent')).toBe(false);
  });

  test('undecided, rejected and expired operations are not taken', async () => {
    const { store, advance } = bench();
    await waiting(bench());
    const { id } = await waiting(bench(), { tool: 'reply' });
    await store.decideApproval(id, decision({ decision: 'rejected' }));
    const late = await approved();
    await advance(DAY);
    await store.registerOwner(owner('bob'), LEASE);
    expect(await store.takeApproved('bob', ['post', 'reply'])).toBeUndefined();
    const expired = await store.expireApprovals(0);
    expect(expired.map((operation) => operation.id)).toContain(late.id);
  });

  test('an owner without a live lease takes nothing', async () => {
    const { store, advance } = bench();
    await approved();
    await advance(LEASE);
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
    expect(await store.takeApproved('unregistered', ['post'])).toBeUndefined();
  });

  test('is taken again if its owner died before sending, but not after', async () => {
    const { store, advance } = bench();
    const { id } = await approved();
    await store.takeApproved('alice', ['post']);
    await advance(LEASE);
    expect(await store.sweep()).toMatchObject([{ id, state: 'awaiting_approval' }]);
    await store.registerOwner(owner('bob'), LEASE);
    const second = await store.takeApproved('bob', ['post']);
    expect(second).toMatchObject({ id, fence: 3, approval: { decision: 'approved' } });
    await store.send(fencingToken(second!), plain);
    await advance(LEASE);
    expect(await store.sweep()).toMatchObject([{ id, state: 'unknown' }]);
    await store.registerOwner(owner('bob'), LEASE);
    expect(await store.takeApproved('bob', ['post'])).toBeUndefined();
  });

  test('can be deferred, or released', async () => {
    const { store, advance } = bench();
    const { id } = await approved();
    const first = await store.takeApproved('alice', ['post']);
    const later = release({ state: 'awaiting_approval', holdMs: 5000 });
    expect(await store.settle(fencingToken(first!), later)).toBe(true);
    expect(await store.get(id)).toMatchObject({
      state: 'awaiting_approval',
      holdsDedupKey: true,
      code: 'rate_limited',
      approval: { decision: 'approved' },
    });
    await advance(4999);
    expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
    await advance(1);
    const second = await store.takeApproved('alice', ['post']);
    expect(second!.id).toBe(id);
    await store.settle(fencingToken(second!), release());
    expect(await store.get(id)).toMatchObject({ state: 'released', holdsDedupKey: false });
  });

  test('an operation that was not approved cannot be deferred as approved', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    const later = release({ state: 'awaiting_approval' });
    expect(await store.settle(fencingToken(operation), later)).toBe(false);
    expect(await store.get(operation.id)).toEqual(operation);
  });

  test('listeners are called after an approval', async () => {
    const { store } = bench();
    const operation = await waiting(bench());
    let stop = (): void => {};
    const heard = new Promise<void>((resolve) => {
      stop = store.onApproved(resolve);
    });
    await store.decideApproval(operation.id, decision());
    await expect(heard).resolves.toBeUndefined();
    stop();
  });
}
