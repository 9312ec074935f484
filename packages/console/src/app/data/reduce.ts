import type {
  ApprovalSummary,
  AuditStatus,
  CallSummary,
  ConsoleEvent,
  InFlightCall,
  NowResponse,
  OperationSummary,
  ProcessState,
  SnapshotResponse,
} from '../../api/types.js';

/** What the live pages show: a snapshot, kept up to date by events. */
export interface Live {
  readonly now: NowResponse;
  readonly processes: readonly ProcessState[];
  readonly inFlight: readonly InFlightCall[];
  /** Newest first, at most `KEPT_CALLS`. */
  readonly calls: readonly CallSummary[];
  readonly unknown: readonly OperationSummary[];
  readonly approvals: readonly ApprovalSummary[];
  readonly audit: AuditStatus;
  /** Grows with every change of an operation: pages that show one load it again. */
  readonly operationsVersion: number;
  /** Grows with every snapshot: what lies between two of them is not known here. */
  readonly generation: number;
}

/** Bounds the memory of a page that stays open for days. Older calls are loaded on demand. */
const KEPT_CALLS = 5_000;

export function fromSnapshot(snapshot: SnapshotResponse, before?: Live): Live {
  const { now, processes, in_flight, calls, unknown, approvals, audit } = snapshot;
  return {
    now,
    processes,
    inFlight: in_flight,
    calls,
    unknown,
    approvals,
    audit,
    operationsVersion: (before?.operationsVersion ?? 0) + 1,
    generation: (before?.generation ?? 0) + 1,
  };
}

/** Applies an event. Events may repeat what is known: after a gap the server sends again from the last cursor. */
export function reduce(live: Live, event: ConsoleEvent): Live {
  switch (event.type) {
    case 'calls':
      return { ...live, calls: mergeCalls(live.calls, event.data.calls) };
    case 'in_flight':
      return { ...live, inFlight: event.data.calls };
    case 'processes':
      return { ...live, processes: event.data.processes };
    case 'operations':
      return mergeOperations(live, event.data.operations, event.data.approvals);
    case 'now':
      return { ...live, now: event.data };
    case 'audit':
      return { ...live, audit: event.data };
    case 'beat':
    case 'reset':
    case 'signed_out':
      return live;
  }
}

/** Merges calls into a list that is sorted by `seq`, newest first, without duplicates. */
export function mergeCalls(
  known: readonly CallSummary[],
  added: readonly CallSummary[],
  max: number = KEPT_CALLS,
): readonly CallSummary[] {
  const newest = known[0]?.seq ?? -Infinity;
  const fresh = added.filter(({ seq }) => seq > newest).toSorted((a, b) => b.seq - a.seq);
  const unique = fresh.filter(({ seq }, at) => seq !== fresh[at - 1]?.seq);
  const late = added.filter(({ seq }) => seq <= newest);
  const merged = [...unique, ...(late.length === 0 ? known : insert(known, late))];
  return merged.length > max ? merged.slice(0, max) : merged;
}

function insert(known: readonly CallSummary[], late: readonly CallSummary[]): CallSummary[] {
  const bySeq = new Map(known.map((call) => [call.seq, call]));
  for (const call of late) bySeq.set(call.seq, call);
  return [...bySeq.values()].toSorted((a, b) => b.seq - a.seq);
}

function mergeOperations(
  live: Live,
  operations: readonly OperationSummary[],
  approvals: readonly ApprovalSummary[],
): Live {
  const changed = new Set([...operations, ...approvals].map(({ id }) => id));
  const kept = <T extends OperationSummary>(list: readonly T[]): T[] =>
    list.filter(({ id }) => !changed.has(id));
  const unknown = operations.filter(({ state }) => state === 'unknown');
  const waiting = approvals.filter(
    ({ state, decision }) => state === 'awaiting_approval' && decision === undefined,
  );
  return {
    ...live,
    unknown: [...kept(live.unknown), ...unknown].toSorted((a, b) =>
      a.created_at.localeCompare(b.created_at),
    ),
    approvals: [...kept(live.approvals), ...waiting].toSorted((a, b) =>
      a.expires_at.localeCompare(b.expires_at),
    ),
    operationsVersion: live.operationsVersion + 1,
  };
}
