import { expect, test } from 'vitest';
import type { Operation } from '../../operation.js';
import type { ApprovalDecision, ApprovalRequest, DecisionResult, JournalStore } from '../store.js';
import {
  byContent,
  claimed,
  DAY,
  fencingToken,
  newId,
  owner,
  request,
  sending,
  settled,
  type Bench,
} from './harness.fixture.js';

const asked = (changes: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  rule: 'ask-before-posting',
  explanation: 'posts are read by a person first',
  hash: 'h1',
  expiresAt: Date.parse('2100-01-01'),
  encryptedArgs: 'encrypted:1',
  answer: '{"error":{"code":"approval_required"}}',
  ...changes,
});

export const decision = (changes: Partial<ApprovalDecision> = {}): ApprovalDecision => ({
  decision: 'approved',
  hash: 'h1',
  by: 'ann',
  holdMs: 60_000,
  ...changes,
});

export async function waiting(
  { store }: Bench,
  changes: Parameters<typeof request>[0] = {},
  { expiresInMs = DAY, ...approval }: Partial<ApprovalRequest> & { expiresInMs?: number } = {},
): Promise<Operation> {
  const operation = await claimed(store, changes);
  const expiresAt = (await store.now()) + expiresInMs;
  const result = await store.awaitApproval(
    fencingToken(operation),
    asked({ expiresAt, ...approval }),
  );
  if (typeof result !== 'object') throw new Error(`it does not wait: ${result}`);
  return result;
}

const operationOf = (result: DecisionResult): Operation => {
  if (result.kind === 'absent') throw new Error('absent');
  return result.operation;
};

export function approvalContract(bench: () => Bench): void {
  test('stores the request with encrypted arguments and without an owner', async () => {
    const { store } = bench();
    const now = await store.now();
    const operation = await waiting(bench(), {}, { cost: { amount: 0.02, unit: 'USD' } });
    expect(operation).toMatchObject({
      state: 'awaiting_approval',
      args: 'encrypted:1',
      answer: asked().answer,
      code: 'approval_required',
      holdsDedupKey: true,
      approval: {
        rule: 'ask-before-posting',
        explanation: 'posts are read by a person first',
        hash: 'h1',
        requestedAt: now,
        expiresAt: now + DAY,
        cost: { amount: 0.02, unit: 'USD' },
      },
    });
    expect(operation.owner).toBeUndefined();
    expect(await store.get(operation.id)).toEqual(operation);
    expect(await store.claim(request())).toEqual({ kind: 'held', operation });
  });

  test('only the owner can request approval, and only before sending', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    expect(
      await store.awaitApproval({ ...fencingToken(operation), fence: 5 }, asked()),
    ).toBeUndefined();
    const sent = await sending(store, { tool: 'reply' });
    expect(await store.awaitApproval(fencingToken(sent), asked())).toBeUndefined();
  });

  test('the number of pending approvals per account is limited, also for concurrent requests', async () => {
    const { store, another } = bench();
    const other = await another();
    const ask = async (at: JournalStore, account: string) => {
      const operation = await claimed(at, { account, dedupKey: byContent(newId()) });
      const result = await at.awaitApproval(fencingToken(operation), asked({ maxPending: 3 }));
      return typeof result === 'object' ? result : { state: result, id: operation.id };
    };
    const all = await Promise.all([1, 2, 3, 4].flatMap(() => [ask(store, 'a'), ask(other, 'a')]));
    const refused = all.filter(({ state }) => state === 'full');
    expect(refused).toHaveLength(5);
    expect(await store.get(refused[0]!.id)).toMatchObject({ state: 'claimed', owner: 'alice' });
    expect(await ask(store, 'b')).toMatchObject({ state: 'awaiting_approval' });
    // A decided approval no longer counts as pending.
    const one = all.find(({ state }) => state === 'awaiting_approval')!;
    await store.decideApproval(one.id, decision());
    expect(await ask(store, 'a')).toMatchObject({ state: 'awaiting_approval' });
    expect(await ask(store, 'a')).toMatchObject({ state: 'full' });
  });

  test('survives the process that requested it', async () => {
    const { store, advance } = bench();
    const operation = await waiting(bench());
    await advance(DAY - 1);
    expect(await store.sweep()).toEqual([]);
    expect(await store.get(operation.id)).toEqual(operation);
  });

  test('approving records the operator, the time and the reason', async () => {
    const { store } = bench();
    const operation = await waiting(bench());
    const result = await store.decideApproval(operation.id, decision({ reason: 'fine' }));
    const now = await store.now();
    expect(result.kind).toBe('decided');
    expect(operationOf(result)).toEqual({
      ...operation,
      approval: {
        ...operation.approval!,
        decision: 'approved',
        decidedAt: now,
        decidedBy: 'ann',
        reason: 'fine',
      },
    });
    expect(await store.get(operation.id)).toEqual(operationOf(result));
  });

  test('rejecting settles it, and the answer is replayed for the hold time', async () => {
    const { store, advance } = bench();
    const { id } = await waiting(bench());
    const result = await store.decideApproval(id, decision({ decision: 'rejected' }));
    expect(result).toMatchObject({
      kind: 'decided',
      operation: { state: 'denied', outcome: 'not_executed', code: 'approval_denied' },
    });
    await advance(59_999);
    await store.registerOwner(owner('alice'), DAY);
    expect(await store.claim(request())).toMatchObject({
      kind: 'held',
      operation: { state: 'denied' },
    });
    await advance(1);
    expect((await store.claim(request())).kind).toBe('mine');
  });

  test('the first of two concurrent decisions wins', async () => {
    const { store, another } = bench();
    const { id } = await waiting(bench());
    const other = await another();
    const results = await Promise.all([
      store.decideApproval(id, decision()),
      other.decideApproval(id, decision({ decision: 'rejected', by: 'bea' })),
      other.decideApproval(id, decision({ by: 'cid' })),
    ]);
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['already', 'already', 'decided']);
    const first = results.find(({ kind }) => kind === 'decided');
    for (const result of results) {
      expect(operationOf(result).approval).toEqual(operationOf(first!).approval);
    }
  });

  test('a decision with an outdated hash is refused', async () => {
    const { store } = bench();
    const { id } = await waiting(bench());
    const edit = {
      expected: 'h1',
      dedupKey: byContent(),
      hash: 'h2',
      encryptedArgs: 'encrypted:2',
      by: 'bea',
    };
    expect(await store.editApproval(id, edit)).toMatchObject({
      kind: 'decided',
      operation: { args: 'encrypted:1', argsHash: 'h1', approval: { editedArgs: 'encrypted:2' } },
    });
    expect(await store.decideApproval(id, decision())).toMatchObject({ kind: 'changed' });
    expect(await store.editApproval(id, { ...edit, hash: 'h3' })).toMatchObject({
      kind: 'changed',
    });
    expect((await store.decideApproval(id, decision({ hash: 'h2' }))).kind).toBe('decided');
    expect((await store.editApproval(id, { ...edit, expected: 'h2' })).kind).toBe('already');
    // A repeated call with the original arguments still finds it.
    expect((await store.claim(request())).operation.id).toBe(id);
  });

  test('an expired approval cannot be decided', async () => {
    const { store, advance } = bench();
    const { id } = await waiting(bench());
    await advance(DAY);
    expect((await store.decideApproval(id, decision())).kind).toBe('expired');
    const edit = {
      expected: 'h1',
      dedupKey: byContent(),
      hash: 'h2',
      encryptedArgs: 's',
      by: 'bea',
    };
    expect((await store.editApproval(id, edit)).kind).toBe('expired');
    expect(await store.get(id)).toMatchObject({ state: 'awaiting_approval' });
    await store.expireApprovals(1000);
    expect((await store.decideApproval(id, decision())).kind).toBe('expired');
  });

  test('operations without a pending approval cannot be decided', async () => {
    const { store } = bench();
    const { id } = await settled(store);
    expect(await store.decideApproval(id, decision())).toMatchObject({ kind: 'not_waiting' });
    expect(await store.decideApproval('op_none', decision())).toEqual({ kind: 'absent' });
    const edit = {
      expected: 'h1',
      dedupKey: byContent(),
      hash: 'h2',
      encryptedArgs: 's',
      by: 'bea',
    };
    expect(await store.editApproval('op_none', edit)).toEqual({ kind: 'absent' });
  });

  test('an undecided approval expires once, and the answer is replayed for the hold time', async () => {
    const { store, another, advance } = bench();
    const one = await waiting(bench());
    const later = await waiting(bench(), { tool: 'reply' }, { expiresInMs: 2 * DAY });
    await advance(DAY);
    const other = await another();
    const expired = await Promise.all([store.expireApprovals(1000), other.expireApprovals(1000)]);
    expect(expired.flat()).toMatchObject([
      { id: one.id, state: 'expired', outcome: 'not_executed', code: 'approval_expired' },
    ]);
    expect(await store.get(later.id)).toEqual(later);
    await store.registerOwner(owner('alice'), DAY);
    expect((await store.claim(request())).operation.id).toBe(one.id);
    await advance(1000);
    expect((await store.claim(request())).kind).toBe('mine');
  });
}
