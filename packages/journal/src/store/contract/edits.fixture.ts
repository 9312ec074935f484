import { expect, test } from 'vitest';
import type { DedupKey } from '../../operation.js';
import type { ApprovalEdit } from '../store.js';
import { decision, waiting } from './approvals.fixture.js';
import {
  byContent,
  byKey,
  byTemplate,
  claimed,
  DAY,
  fencingToken,
  owner,
  release,
  request,
  settled,
  success,
  type Bench,
} from './harness.fixture.js';

const [one, two, three] = ['1', '2', '3'].map((digit) => byContent(digit.repeat(64))) as [
  DedupKey,
  DedupKey,
  DedupKey,
];
const edit = (dedupKey: DedupKey, changes: Partial<ApprovalEdit> = {}): ApprovalEdit => ({
  expected: 'h1',
  hash: 'h2',
  dedupKey,
  encryptedArgs: 'encrypted:2',
  by: 'bea',
  ...changes,
});

/** Edits that change the dedup key of a pending approval. */
export function editContract(bench: () => Bench): void {
  test('holds the dedup keys of the original and the edited arguments', async () => {
    const { store, another } = bench();
    const { id } = await waiting(bench(), { dedupKey: one });
    const edited = await store.editApproval(id, edit(two));
    expect(edited).toMatchObject({
      kind: 'decided',
      operation: { id, dedupKey: two, argsHash: 'h1', holdsDedupKey: true },
    });
    const other = await another();
    for (const dedupKey of [one, two]) {
      const result = await other.claim(request({ dedupKey, owner: 'bob' }));
      expect(result).toMatchObject({ kind: 'held', operation: { id } });
    }
  });

  test('releases the key of an earlier edit, and can restore the original arguments', async () => {
    const { store, advance } = bench();
    const { id } = await waiting(bench(), { dedupKey: one });
    await store.editApproval(id, edit(two));
    await store.editApproval(id, edit(three, { expected: 'h2', hash: 'h3' }));
    const between = await claimed(store, { dedupKey: two });
    for (const dedupKey of [one, three]) {
      expect((await store.claim(request({ dedupKey }))).operation.id).toBe(id);
    }
    const back = await store.editApproval(id, edit(one, { expected: 'h3', hash: 'h1' }));
    expect(back).toMatchObject({ kind: 'decided', operation: { dedupKey: one } });
    expect((await store.claim(request({ dedupKey: three }))).kind).toBe('mine');
    expect((await store.claim(request({ dedupKey: one }))).operation.id).toBe(id);
    expect((await store.claim(request({ dedupKey: two }))).operation.id).toBe(between.id);
    await store.decideApproval(id, decision({ decision: 'rejected', holdMs: 1000 }));
    await advance(1000);
    const next = await claimed(store, { dedupKey: one });
    expect((await store.claim(request({ dedupKey: one }))).operation.id).toBe(next.id);
  });

  test('restored, executed and compensated, it can be executed again', async () => {
    const { store } = bench();
    const { id } = await waiting(bench(), { dedupKey: one });
    await store.editApproval(id, edit(two));
    await store.editApproval(id, edit(one, { expected: 'h2', hash: 'h1' }));
    await store.decideApproval(id, decision());
    const taken = await store.takeApproved('alice', ['post']);
    await store.send(fencingToken(taken!), { limits: [] });
    await store.settle(fencingToken(taken!), success({ holdMs: DAY }));
    expect((await store.claim(request({ dedupKey: one }))).operation.id).toBe(id);
    await settled(store, { tool: 'undo' }, success({ releases: [id] }));
    expect((await store.claim(request({ dedupKey: one }))).kind).toBe('mine');
  });

  test('cannot take the dedup key of another operation until its hold ends', async () => {
    const { store, advance } = bench();
    const { id } = await waiting(bench(), { dedupKey: one });
    const before = await store.get(id);
    const other = await claimed(store, { dedupKey: two });
    const refused = { kind: 'taken', operation: { id: other.id } };
    expect(await store.editApproval(id, edit(two))).toMatchObject(refused);
    await store.send(fencingToken(other), { limits: [] });
    await store.settle(fencingToken(other), success({ holdMs: 5000 }));
    expect(await store.editApproval(id, edit(two))).toMatchObject(refused);
    expect(await store.get(id)).toEqual(before);
    await advance(5000);
    expect(await store.editApproval(id, edit(two))).toMatchObject({ kind: 'decided' });
    expect((await store.claim(request({ dedupKey: two }))).operation.id).toBe(id);
  });

  test('exactly one of a concurrent edit and claims gets the dedup key', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    for (let round = 0; round < 5; round += 1) {
      const tool = `tool-${round}`;
      const { id } = await waiting(bench(), { dedupKey: one, tool });
      const [edited, ...claims] = await Promise.all([
        stores[round % 3]!.editApproval(id, edit(two)),
        ...stores.map((each) => each.claim(request({ dedupKey: two, tool }))),
      ]);
      const wins = claims.filter(({ kind }) => kind === 'mine').length;
      expect(wins).toBe(edited.kind === 'decided' ? 0 : 1);
    }
  });

  test('the explicit key keeps its own hold time', async () => {
    const { store, advance } = bench();
    await store.registerOwner(owner('alice'), 10 * DAY);
    const { id } = await waiting(bench(), { dedupKey: byKey() });
    const { value: key } = byKey();
    expect(await store.editApproval(id, edit(two))).toMatchObject({ operation: { key } });
    await store.decideApproval(id, decision({ hash: 'h2' }));
    const taken = await store.takeApproved('alice', ['post']);
    await store.send(fencingToken(taken!), { limits: [] });
    await store.settle(fencingToken(taken!), success({ holdMs: 1000, keyHoldMs: DAY }));
    expect((await store.claim(request({ dedupKey: two }))).operation.id).toBe(id);
    await advance(1000);
    expect((await store.claim(request({ dedupKey: two }))).kind).toBe('mine');
    expect((await store.claim(request({ dedupKey: byKey() }))).operation.id).toBe(id);
  });

  test('a template key is kept if the edit does not change it', async () => {
    const { store } = bench();
    const key = 'key-aaaaaaaaaaaaaaaa';
    const { id } = await waiting(bench(), { dedupKey: byTemplate(), key });
    await store.editApproval(id, edit(byTemplate()));
    const elsewhere = { dedupKey: byTemplate('refund:2'), key };
    for (const again of [{ dedupKey: byTemplate() }, elsewhere]) {
      expect((await store.claim(request(again))).operation.id).toBe(id);
    }
  });

  test('a rejection or expiry is replayed under both keys; a release frees both', async () => {
    const { store, advance } = bench();
    await store.registerOwner(owner('alice'), 10 * DAY);
    const { id } = await waiting(bench(), { dedupKey: one });
    await store.editApproval(id, edit(two));
    await store.decideApproval(id, decision({ hash: 'h2', decision: 'rejected', holdMs: 1000 }));
    for (const dedupKey of [one, two]) {
      const again = await store.claim(request({ dedupKey }));
      expect(again.operation).toMatchObject({ id, state: 'denied' });
    }
    await advance(1000);
    for (const dedupKey of [one, two]) await settled(store, { dedupKey }, release());

    const late = await waiting(bench(), { dedupKey: one });
    await store.editApproval(late.id, edit(two));
    await store.decideApproval(late.id, decision({ hash: 'h2' }));
    const taken = await store.takeApproved('alice', ['post']);
    await store.settle(fencingToken(taken!), release());
    for (const dedupKey of [one, two]) {
      expect((await store.claim(request({ dedupKey }))).kind).toBe('mine');
    }
  });
}
