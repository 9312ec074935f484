import { expect, test } from 'vitest';
import { type AuditRow, GENESIS, hashOf } from '../../audit/chain.js';
import { decision, waiting } from './approvals.fixture.js';
import {
  byContent,
  claimed,
  fencingToken,
  LEASE,
  newId,
  plain,
  release,
  settled,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

/** Verifies the links and hashes of the rows. */
const expectChain = (rows: readonly AuditRow[]): void => {
  let prev = GENESIS.hash;
  for (const [index, row] of rows.entries()) {
    expect(row).toMatchObject({ seq: index + 1, prev });
    expect(row.hash).toBe(hashOf(row));
    prev = row.hash;
  }
};

export function auditContract(bench: () => Bench): void {
  const kinds = async (): Promise<readonly string[]> =>
    (await bench().store.auditRows(1, 100)).map(({ kind }) => kind);

  test('an empty journal has no head', async () => {
    expect(await bench().store.auditHead()).toBeUndefined();
    expect(await bench().store.auditRows(1, 10)).toEqual([]);
  });

  test('every send and settlement appends a row with its actor', async () => {
    const { store } = bench();
    const { id } = await settled(store);
    const rows = await store.auditRows(1, 10);
    const common = { operationId: id, tool: 'post', account: 'main', actor: 'alice' };
    expect(rows).toMatchObject([
      { kind: 'send', ...common },
      { kind: 'settled', ...common },
    ]);
    expect(rows.map(({ detail }) => JSON.parse(detail) as unknown)).toEqual([
      { correlationId: 'c-1', fence: 1 },
      { state: 'succeeded', outcome: 'executed', code: 'ok', fence: 1 },
    ]);
    expectChain(rows);
  });

  test('only the first send records the cost', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    const cost = { amount: 0.03, unit: 'USD' };
    for (const _attempt of [1, 2]) {
      expect((await store.send(fencingToken(operation), { ...plain, cost })).kind).toBe('sent');
    }
    const rows = await store.auditRows(1, 10);
    expect(rows.map(({ detail }) => (JSON.parse(detail) as { cost?: unknown }).cost)).toEqual([
      cost,
      undefined,
    ]);
    expectChain(rows);
  });

  test('approval requests and edits record the estimated cost', async () => {
    const { store } = bench();
    const [before, after] = [
      { amount: 1, unit: 'USD' },
      { amount: 2, unit: 'USD' },
    ];
    const { id } = await waiting(bench(), {}, { cost: before });
    const edit = {
      expected: 'h1',
      dedupKey: byContent(),
      hash: 'h2',
      encryptedArgs: 's',
      by: 'bea',
    };
    await store.editApproval(id, { ...edit, cost: after });
    expect((await store.get(id))?.approval?.cost).toEqual(after);
    await store.editApproval(id, { ...edit, expected: 'h2', hash: 'h3' });
    expect((await store.get(id))?.approval).not.toHaveProperty('cost');
    const rows = await store.auditRows(1, 10);
    expect(rows.map(({ detail }) => (JSON.parse(detail) as { cost?: unknown }).cost)).toEqual([
      before,
      after,
      undefined,
    ]);
  });

  test('operator decisions can be read incrementally, without other rows', async () => {
    const { store } = bench();
    const { next } = await store.operatorAuditRows(undefined, 10);
    expect(await store.operatorAuditRows(next, 10)).toEqual({ rows: [], next });
    const { id } = await waiting(bench());
    await store.decideApproval(id, decision({}));
    for (const by of ['bea', 'read-back']) {
      const open = await settled(store, { dedupKey: byContent(by) }, unknown());
      const verdict = { outcome: 'executed', answer: '{}', code: 'ok', holdMs: 0, by } as const;
      expect(await store.reconcile(open.id, verdict)).toBe(true);
    }
    const first = await store.operatorAuditRows(next, 1);
    expect(first.rows).toMatchObject([{ kind: 'approval_decided', operationId: id, actor: 'ann' }]);
    const second = await store.operatorAuditRows(first.next, 10);
    expect(second.rows).toMatchObject([{ kind: 'reconciled', actor: 'bea' }]);
    expect(second.next).toBe((await store.auditHead())!.seq + 1);
    expect((await store.operatorAuditRows(undefined, 10)).next).toBe(second.next);
  });

  test('every decision appends a row', async () => {
    const { store } = bench();
    const { id } = await waiting(bench());
    await store.editApproval(id, {
      expected: 'h1',
      dedupKey: byContent(),
      hash: 'h2',
      encryptedArgs: 's',
      by: 'bea',
    });
    await store.decideApproval(id, decision({ hash: 'h2', reason: 'ok' }));
    const taken = await store.takeApproved('alice', ['post']);
    await store.settle(fencingToken(taken!), release({ reason: 'no-links' }));
    expect((await store.auditRows(5, 1))[0]!.detail).toContain('no-links');
    expect(await kinds()).toEqual([
      'approval_requested',
      'approval_edited',
      'approval_decided',
      'approval_taken',
      'settled',
    ]);
    expectChain(await store.auditRows(1, 100));
  });

  test('sweeps, expiries and reconciliations append rows', async () => {
    const { store, advance } = bench();
    const { id } = await settled(store, {}, unknown());
    await store.reconcile(id, {
      outcome: 'executed',
      answer: '{}',
      code: 'ok',
      holdMs: 0,
      by: 'ann',
      reason: 'seen on the page',
    });
    await waiting(bench(), { tool: 'reply' }, { expiresInMs: LEASE });
    await claimed(store, { tool: 'like' });
    await advance(LEASE);
    await store.expireApprovals(0);
    await store.sweep();
    expect((await kinds()).slice(2)).toEqual([
      'reconciled',
      'approval_requested',
      'approval_expired',
      'lapsed',
    ]);
    const rows = await store.auditRows(3, 1);
    expect(rows).toMatchObject([{ seq: 3, kind: 'reconciled', actor: 'ann' }]);
    expect(rows[0]!.detail).toContain('seen on the page');
  });

  test('refused transitions append nothing', async () => {
    const { store } = bench();
    const operation = await claimed(store);
    await store.send({ ...fencingToken(operation), fence: 4 }, plain);
    await store.settle({ ...fencingToken(operation), fence: 4 }, success());
    await store.sweep();
    expect(await kinds()).toEqual([]);
  });

  test('other packages append their own rows, with any text', async () => {
    const { store, advance } = bench();
    await advance(7);
    const detail = { rule: 'no-links', text: 'a\0b \uD800 "q" 🙂' };
    await store.audit({ kind: 'denied', actor: 'po\0licy\uD800', detail });
    await store.audit({ kind: 'login', actor: 'ann' });
    const rows = await store.auditRows(1, 10);
    expect(rows).toMatchObject([
      { kind: 'denied', at: await store.now() },
      { kind: 'login', actor: 'ann', detail: '{}' },
    ]);
    expect(JSON.parse(rows[0]!.detail)).toEqual(detail);
    expect('operationId' in rows[1]!).toBe(false);
    expectChain(rows);
    const last = rows[1]!;
    expect(await store.auditHead()).toEqual({ seq: 2, hash: last.hash });
  });

  test('stays one chain under concurrent writers', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        settled(stores[i % 3]!, { dedupKey: byContent(newId()) }, release()),
      ),
    );
    const rows = await store.auditRows(1, 100);
    expect(rows).toHaveLength(24);
    expectChain(rows);
    expect(await store.auditRows(20, 2)).toEqual(rows.slice(19, 21));
  });
}
