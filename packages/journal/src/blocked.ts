import type { JournalContext } from './context.js';
import type { Operation } from './operation.js';
import type { OperationView } from './operations/view.js';
import type { StoredRecordId } from './store/store.js';

/** Why an approved operation is not executed, or an unknown one not reconciled. */
const BLOCKED = Object.freeze({
  // Approved operations: approvals/run-approved.ts
  scheduled: 'It is executed at its scheduled time.',
  approval_expired: 'The approval has expired, so it is not executed any more.',
  no_live_server:
    'No live server has the tool. Start a server whose configuration includes its pack.',
  tool_not_loaded:
    'A server lists the tool but could not create its pack. See the log of that server; it tries again every 30 s.',
  execution_failed: 'Its execution could not be started. See the server log for the cause.',
  // Unknown operations: reconcile/reconcile.ts
  not_attempted:
    'No server has read it back yet: no live server has the tool, the tool has no read-back, or its first attempt is due within seconds.',
  step_open: 'One of its steps has an unknown outcome. A repeated call reads back that step.',
  no_read_back: 'The tool has no read-back. Check the upstream, then resolve the operation.',
  other_account: 'The tool acts for another account now, which may not see the effect.',
  account_unresolved: 'The upstream did not tell in time which account the tool acts for.',
  read_back_failed: 'The read-back failed. See the server log for the cause.',
  read_back_timed_out: 'The read-back did not end in time.',
  read_back_inconclusive: 'The read-back could not tell whether the operation was executed.',
  not_authoritative:
    'The read-back does not find it. For this tool that does not prove that it did not happen (`authoritative: false`).',
  sender_may_send: 'The read-back does not find it, but its sender may be alive and still send it.',
  upstream_may_act:
    'The read-back does not find it, but the upstream may still execute it (`actsWithinMs`).',
  awaiting_confirmation:
    'One read-back does not find it; a second one has to confirm that (`confirmAfterMs`).',
  no_evidence:
    'The read-back does not find it and returned no evidence, which a tool with `confirmAfterMs` needs.',
} as const satisfies Record<string, string>);

export type BlockedReason = keyof typeof BLOCKED;

/** As part of an operation's view. */
export interface BlockedView {
  readonly reason: BlockedReason;
  readonly explanation: string;
  /** When a server recorded the reason; absent if it follows from the operation itself. */
  readonly at?: string;
}

export interface Blocked {
  /** Logs and stores the reason, unless this process did so last for this operation. Never rejects. */
  readonly note: (operation: Operation, reason: BlockedReason) => void;
  /** Stores the reason of a read-back that an operator requested, with its time. Never rejects. */
  readonly record: (operation: Operation, reason: BlockedReason) => Promise<void>;
  /** The current reason; undefined for an operation that is neither approved nor unknown. */
  readonly of: (operation: Operation) => Promise<BlockedView | undefined>;
}

/** Bounds the memory; forgetting only repeats log lines. */
const MAX_REMEMBERED = 10_000;

/** The reasons are stored as records, so that the CLI sees what a server found out. */
export function createBlocked({
  store,
  emit,
  report,
  track,
  retentionMs,
}: Pick<JournalContext, 'store' | 'emit' | 'report' | 'track'> &
  Pick<JournalContext['times'], 'retentionMs'>): Blocked {
  const noted = new Map<string, BlockedReason>();

  const write = async (operation: Operation, reason: BlockedReason): Promise<void> => {
    try {
      const at = await store.now();
      const expiresAt = at + retentionMs;
      await store.putRecord({ ...recordId(operation), at, expiresAt, state: reason, data: '{}' });
    } catch (cause) {
      report(cause, operation.correlationId);
    }
  };
  return {
    note: (operation, reason) => {
      if (noted.get(operation.id) === reason) return;
      if (noted.size >= MAX_REMEMBERED) noted.clear();
      noted.set(operation.id, reason);
      const type =
        operation.approval?.decision === 'approved' && operation.state !== 'unknown'
          ? 'approved_not_executed'
          : 'unknown_not_reconciled';
      emit(type, operation, { result: reason });
      track(write(operation, reason));
    },
    record: write,
    of: async (operation) => {
      const { state, approval, steps, tool } = operation;
      const isApproved = state === 'awaiting_approval' && approval?.decision === 'approved';
      if (!isApproved && state !== 'unknown') return undefined;
      if (isApproved) {
        const now = await store.now();
        if (approval.expiresAt <= now) return view('approval_expired');
        if (!(await store.hasLiveOwner(tool))) return view('no_live_server');
        if ((approval.scheduledFor ?? 0) > now) return view('scheduled');
      } else if (steps.some((step) => step.state === 'sending')) {
        return view('step_open');
      }
      const found = await store.getRecord(recordId(operation));
      const reason = found?.state;
      if (reason !== undefined && Object.hasOwn(BLOCKED, reason)) {
        return view(reason as BlockedReason, found?.at);
      }
      return isApproved ? undefined : view('not_attempted');
    },
  };
}

/** No pack can have this name. The fence: a reason of an earlier run does not apply to a later one. */
function recordId({ id, account, fence, state }: Operation): StoredRecordId {
  const run = state === 'unknown' ? ` ${fence}` : '';
  return { pack: '#journal', kind: 'blocked', account, id: `${id}${run}` };
}

function view(reason: BlockedReason, at?: number): BlockedView {
  const explanation = BLOCKED[reason];
  return at === undefined
    ? { reason, explanation }
    : { reason, explanation, at: new Date(at).toISOString() };
}

/** Adds the reason to a view. */
export async function withBlocked(
  { of }: Blocked,
  operation: Operation,
  shown: OperationView,
): Promise<OperationView> {
  const blocked = await of(operation);
  return blocked ? { ...shown, blocked } : shown;
}
