import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  ApprovalSummary,
  CallSummary,
  OperationSummary,
  SnapshotResponse,
} from '../../api/types.js';
import { fromSnapshot, mergeCalls, reduce, type Live } from './reduce.js';

const call = (seq: number): CallSummary => ({
  seq,
  correlation_id: `c${seq}`,
  tool: 'search_items',
  code: 'ok',
  at: new Date(seq).toISOString(),
  elapsed_ms: 1,
  attempts: 1,
  waited_ms: 0,
});
const operation = (id: string, state: OperationSummary['state'], at = 1): OperationSummary => ({
  id,
  tool: 'x_post_tweet',
  account: 'x:1',
  effect: 'once',
  state,
  key: 'k',
  correlation_id: 'c',
  created_at: new Date(at).toISOString(),
});
const approval = (
  id: string,
  expires: number,
  more: Partial<ApprovalSummary> = {},
): ApprovalSummary => ({
  ...operation(id, 'awaiting_approval'),
  rule: 'ask',
  explanation: '',
  hash: 'h',
  requested_at: new Date(1).toISOString(),
  expires_at: new Date(expires).toISOString(),
  edited: false,
  ...more,
});

const snapshot = (more: Partial<SnapshotResponse> = {}): SnapshotResponse => ({
  cursor: '1',
  now: {
    at: new Date(0).toISOString(),
    status: 'ok',
    statements: [],
    counts: {
      processes_live: 1,
      processes_lost: 0,
      in_flight: 0,
      retrying: 0,
      unknown: 0,
      approvals: 0,
      approvals_expired: 0,
      calls_last_hour: 0,
      failed_last_hour: 0,
      reads_last_hour: 0,
      reads_failed_last_hour: 0,
    },
  },
  processes: [],
  in_flight: [],
  calls: [],
  unknown: [],
  approvals: [],
  audit: { head: null, verified: null, state: 'valid', problem_count: 0, problems: [], anchor: '' },
  ...more,
});
const live = (more: Partial<SnapshotResponse> = {}): Live => fromSnapshot(snapshot(more));

describe('calls', () => {
  test('of an event come first, and what is sent again after a gap is not shown twice', () => {
    const before = live({ calls: [call(3), call(2), call(1)] });
    const data = { calls: [call(2), call(3), call(4), call(5)] };
    const after = reduce(before, { type: 'calls', data });
    expect(after.calls.map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1]);
  });

  test('are sorted, unique and bounded in whatever order they arrive', () => {
    const seqs = fc.array(fc.array(fc.nat(50), { maxLength: 20 }), { maxLength: 10 });
    fc.assert(
      fc.property(seqs, (batches) => {
        let merged: readonly CallSummary[] = [];
        for (const batch of batches) merged = mergeCalls(merged, batch.map(call), 1000);
        const wanted = [...new Set(batches.flat())].toSorted((a, b) => b - a);
        expect(merged.map(({ seq }) => seq)).toEqual(wanted);
      }),
    );
    const many = Array.from({ length: 30 }, (_, at) => call(at));
    expect(mergeCalls([], many, 10).map(({ seq }) => seq)).toEqual([
      29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
    ]);
  });
});

describe('operations', () => {
  test('enter the worklist when they become unknown, oldest first, and leave it when they settle', () => {
    const before = live({ unknown: [operation('b', 'unknown', 20)] });
    const added = reduce(before, {
      type: 'operations',
      data: { operations: [operation('a', 'unknown', 10)], approvals: [] },
    });
    expect(added.unknown.map(({ id }) => id)).toEqual(['a', 'b']);
    const settled = reduce(added, {
      type: 'operations',
      data: { operations: [operation('b', 'reconciled', 20)], approvals: [] },
    });
    expect(settled.unknown.map(({ id }) => id)).toEqual(['a']);
    expect(settled.operationsVersion).toBe(before.operationsVersion + 2);
  });

  test('wait for approval by expiry until they are decided', () => {
    const before = live({ approvals: [approval('a', 50)] });
    const added = reduce(before, {
      type: 'operations',
      data: { operations: [operation('b', 'awaiting_approval')], approvals: [approval('b', 20)] },
    });
    expect(added.approvals.map(({ id }) => id)).toEqual(['b', 'a']);
    const approved = reduce(added, {
      type: 'operations',
      data: {
        operations: [operation('b', 'awaiting_approval')],
        approvals: [approval('b', 20, { decision: 'approved' })],
      },
    });
    expect(approved.approvals.map(({ id }) => id)).toEqual(['a']);
    const expired = reduce(approved, {
      type: 'operations',
      data: { operations: [operation('a', 'expired')], approvals: [] },
    });
    expect(expired.approvals).toEqual([]);
  });
});

test('a second snapshot starts a new generation', () => {
  const first = live();
  const second = fromSnapshot(snapshot({ cursor: '9' }), first);
  expect(second.generation).toBe(first.generation + 1);
  expect(second.operationsVersion).toBe(first.operationsVersion + 1);
});

test('a beat changes nothing', () => {
  const before = live();
  expect(reduce(before, { type: 'beat', data: { at: '' } })).toBe(before);
});
