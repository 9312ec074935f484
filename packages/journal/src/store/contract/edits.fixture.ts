import { expect, test } from 'vitest';
import type { Identity } from '../../operation.js';
import type { ApprovalEdit } from '../store.js';
import { decision, waiting } from './approvals.fixture.js';
import {
  byContent,
  byKey,
  byTemplate,
  claimed,
  DAY,
  grip,
  owner,
  release,
  request,
  settled,
  success,
  type Bench,
} from './harness.fixture.js';

const [one, two, three] = ['1', '2', '3'].map((digit) => byContent(digit.repeat(64))) as [
  Identity,
  Identity,
  Identity,
];
const edit = (identity: Identity, changes: Partial<ApprovalEdit> = {}): ApprovalEdit => ({
  expected: 'h1',
  hash: 'h2',
  identity,
  sealedArgs: 'sealed:2',
  by: 'bea',
  ...changes,
});

/** What a person makes another act of, before it is approved. */
export function editContract(bench: () => Bench): void {
  test('it holds what it was asked for and what it became', async () => {
    const { store, another } = bench();
    const { id } = await waiting(bench(), { identity: one });
    const edited = await store.editApproval(id, edit(two));
    expect(edited).toMatchObject({
      kind: 'decided',
      operation: { id, identity: two, argsHash: 'h1', holdsSlot: true },
    });
    const other = await another();
    for (const identity of [one, two]) {
      const result = await other.claim(request({ identity, owner: 'bob' }));
      expect(result).toMatchObject({ kind: 'held', operation: { id } });
    }
  });

  test('what it was in between is free again, and it can be taken back', async () => {
    const { store, advance } = bench();
    const { id } = await waiting(bench(), { identity: one });
    await store.editApproval(id, edit(two));
    await store.editApproval(id, edit(three, { expected: 'h2', hash: 'h3' }));
    const between = await claimed(store, { identity: two });
    for (const identity of [one, three]) {
      expect((await store.claim(request({ identity }))).operation.id).toBe(id);
    }
    const back = await store.editApproval(id, edit(one, { expected: 'h3', hash: 'h1' }));
    expect(back).toMatchObject({ kind: 'decided', operation: { identity: one } });
    expect((await store.claim(request({ identity: three }))).kind).toBe('mine');
    expect((await store.claim(request({ identity: one }))).operation.id).toBe(id);
    expect((await store.claim(request({ identity: two }))).operation.id).toBe(between.id);
    await store.decideApproval(id, decision({ decision: 'rejected', holdMs: 1000 }));
    await advance(1000);
    const next = await claimed(store, { identity: one });
    expect((await store.claim(request({ identity: one }))).operation.id).toBe(next.id);
  });

  test('taken back, done and undone, it can be done again', async () => {
    const { store } = bench();
    const { id } = await waiting(bench(), { identity: one });
    await store.editApproval(id, edit(two));
    await store.editApproval(id, edit(one, { expected: 'h2', hash: 'h1' }));
    await store.decideApproval(id, decision());
    const taken = await store.takeApproved('alice', ['post']);
    await store.send(grip(taken!), { limits: [] });
    await store.settle(grip(taken!), success({ holdMs: DAY }));
    expect((await store.claim(request({ identity: one }))).operation.id).toBe(id);
    await settled(store, { tool: 'undo' }, success({ frees: [id] }));
    expect((await store.claim(request({ identity: one }))).kind).toBe('mine');
  });

  test('it cannot become what another one has or did, until that is over', async () => {
    const { store, advance } = bench();
    const { id } = await waiting(bench(), { identity: one });
    const before = await store.get(id);
    const other = await claimed(store, { identity: two });
    const refused = { kind: 'taken', operation: { id: other.id } };
    expect(await store.editApproval(id, edit(two))).toMatchObject(refused);
    await store.send(grip(other), { limits: [] });
    await store.settle(grip(other), success({ holdMs: 5000 }));
    expect(await store.editApproval(id, edit(two))).toMatchObject(refused);
    expect(await store.get(id)).toEqual(before);
    await advance(5000);
    expect(await store.editApproval(id, edit(two))).toMatchObject({ kind: 'decided' });
    expect((await store.claim(request({ identity: two }))).operation.id).toBe(id);
  });

  test('of an edit and claims of the same at once exactly one has it', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    for (let round = 0; round < 5; round += 1) {
      const tool = `tool-${round}`;
      const { id } = await waiting(bench(), { identity: one, tool });
      const [edited, ...claims] = await Promise.all([
        stores[round % 3]!.editApproval(id, edit(two)),
        ...stores.map((each) => each.claim(request({ identity: two, tool }))),
      ]);
      const wins = claims.filter(({ kind }) => kind === 'mine').length;
      expect(wins).toBe(edited.kind === 'decided' ? 0 : 1);
    }
  });

  test('a key keeps its own time beside what it was made to be', async () => {
    const { store, advance } = bench();
    await store.enlist(owner('alice'), 10 * DAY);
    const { id } = await waiting(bench(), { identity: byKey() });
    const { value: key } = byKey();
    expect(await store.editApproval(id, edit(two))).toMatchObject({ operation: { key } });
    await store.decideApproval(id, decision({ hash: 'h2' }));
    const taken = await store.takeApproved('alice', ['post']);
    await store.send(grip(taken!), { limits: [] });
    await store.settle(grip(taken!), success({ holdMs: 1000, keyHoldMs: DAY }));
    expect((await store.claim(request({ identity: two }))).operation.id).toBe(id);
    await advance(1000);
    expect((await store.claim(request({ identity: two }))).kind).toBe('mine');
    expect((await store.claim(request({ identity: byKey() }))).operation.id).toBe(id);
  });

  test('what names it is not lost where only its words are edited', async () => {
    const { store } = bench();
    const key = 'key-aaaaaaaaaaaaaaaa';
    const { id } = await waiting(bench(), { identity: byTemplate(), key });
    await store.editApproval(id, edit(byTemplate()));
    const elsewhere = { identity: byTemplate('refund:2'), key };
    for (const again of [{ identity: byTemplate() }, elsewhere]) {
      expect((await store.claim(request(again))).operation.id).toBe(id);
    }
  });

  test('refused or expired, it is so under both for a while; released, under neither', async () => {
    const { store, advance } = bench();
    await store.enlist(owner('alice'), 10 * DAY);
    const { id } = await waiting(bench(), { identity: one });
    await store.editApproval(id, edit(two));
    await store.decideApproval(id, decision({ hash: 'h2', decision: 'rejected', holdMs: 1000 }));
    for (const identity of [one, two]) {
      const again = await store.claim(request({ identity }));
      expect(again.operation).toMatchObject({ id, state: 'denied' });
    }
    await advance(1000);
    for (const identity of [one, two]) await settled(store, { identity }, release());

    const late = await waiting(bench(), { identity: one });
    await store.editApproval(late.id, edit(two));
    await store.decideApproval(late.id, decision({ hash: 'h2' }));
    const taken = await store.takeApproved('alice', ['post']);
    await store.settle(grip(taken!), release());
    for (const identity of [one, two]) {
      expect((await store.claim(request({ identity }))).kind).toBe('mine');
    }
  });
}
