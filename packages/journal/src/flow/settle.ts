import { codeOf, writeAnswer } from '../answer/answer.js';
import { unref } from '../background/every.js';
import type { JournalContext } from '../context.js';
import { executedHoldOf, holdOf } from '../dedup-key/dedup-key.js';
import type { FencingToken, Settlement } from '../store/store.js';
import type { OperationRun } from './execute.js';
import { compensatedOperations } from './inverse.js';
import type { OperationHandle } from './operation-handle.js';
import type { EstablishedOutcome } from './outcome.js';

/** Delay before an approved operation that could not be executed is tried again. */
export const APPROVED_RETRY_MS = 30_000;

/** Settles an operation that this process owns. One that it did not take over stays as it is. */
export async function settle(
  context: JournalContext,
  { operation, call }: Pick<OperationRun, 'operation' | 'call'>,
  handle: Pick<OperationHandle, 'fencingToken' | 'unwritten'>,
  outcome: EstablishedOutcome,
  discard = false,
): Promise<void> {
  const fencingToken = handle.fencingToken();
  if (!fencingToken) return;
  const { tool, args } = call;
  const settlement = await settlementOf(context, { operation, call }, outcome);
  const releases =
    outcome.state === 'succeeded' && tool.inverse
      ? await compensatedOperations(context, tool, operation.account, args)
      : [];
  await context.settler.settle(
    fencingToken,
    { ...settlement, ...(releases.length > 0 && { releases }), ...(discard && { discard }) },
    {
      first: handle.unwritten(),
      onWritten: () => void context.running.delete(operation.id),
    },
  );
}

async function settlementOf(
  context: JournalContext,
  { operation, call }: Pick<OperationRun, 'operation' | 'call'>,
  { state, outcome, answer, refund }: EstablishedOutcome,
): Promise<Settlement> {
  const base = { outcome, code: codeOf(answer), ...(refund && { refund }) };
  if (state === 'succeeded' || state === 'rejected') {
    const holdFor = state === 'succeeded' ? executedHoldOf : holdOf;
    const hold = holdFor(operation, call.tool, context.times);
    return { ...base, state, answer: writeAnswer(answer), ...hold };
  }
  if (state === 'unknown') {
    return { ...base, state, answer: writeAnswer(answer, await storeNow(context)), holdMs: 0 };
  }
  // A policy limit or a lost connection does not void an approval.
  if (state === 'released' && operation.approval?.decision === 'approved') {
    const holdMs = Math.max(answer.ok ? 0 : (answer.error.retryAfterMs ?? 0), APPROVED_RETRY_MS);
    return { ...base, state: 'awaiting_approval', answer: writeAnswer(answer), holdMs };
  }
  return { ...base, state, answer: writeAnswer(answer), holdMs: 0 };
}

/** On the shared clock: other processes measure from then how long the upstream may still act. */
async function storeNow({ store, clock, report }: JournalContext): Promise<number> {
  try {
    return await store.now();
  } catch (cause) {
    report(cause);
    return clock.wallNow();
  }
}

type WriteResult = 'settled' | 'lost' | 'later';

/** Writes settlements and retries while the store fails: only this process knows the outcome. */
export interface Settler {
  readonly settle: (
    fencingToken: FencingToken,
    settlement: Settlement,
    more?: {
      /** Must be written before the settlement. */
      readonly first?: ((fencingToken: FencingToken) => Promise<boolean>) | undefined;
      /** Called once the settlement is written, or the operation has another owner. */
      readonly onWritten?: () => void;
    },
  ) => Promise<WriteResult>;
  /** Tries pending writes once more and stops retrying. */
  readonly close: () => Promise<void>;
}

const RETRY_MS = { first: 200, most: 15_000 } as const;

interface PendingWrite {
  readonly fencingToken: FencingToken;
  readonly settlement: Settlement;
  readonly more: NonNullable<Parameters<Settler['settle']>[2]>;
}

export function createSettler({
  store,
  clock,
  report,
}: Pick<JournalContext, 'store' | 'clock' | 'report'>): Settler {
  const pending = new Set<PendingWrite>();
  let delay: number = RETRY_MS.first;
  let timer: unknown;
  let closed = false;

  const write = async ({ fencingToken, settlement, more }: PendingWrite): Promise<WriteResult> => {
    try {
      await more.first?.(fencingToken);
      const isSettled = await store.settle(fencingToken, settlement);
      more.onWritten?.();
      return isSettled ? 'settled' : 'lost';
    } catch (cause) {
      report(cause);
      return 'later';
    }
  };
  const flush = async (): Promise<void> => {
    if (timer !== undefined) clock.clearTimer(timer);
    timer = undefined;
    for (const each of pending) {
      // Sequentially, to spare a store that has just recovered.
      if ((await write(each)) === 'later') break;
      pending.delete(each);
    }
    delay = pending.size === 0 ? RETRY_MS.first : Math.min(delay * 2, RETRY_MS.most);
    if (pending.size > 0) scheduleRetry();
  };
  const scheduleRetry = (): void => {
    if (closed || timer !== undefined) return;
    timer = clock.setTimer(delay, () => void flush());
    unref(timer);
  };

  return {
    close: () => {
      closed = true;
      return flush();
    },
    settle: async (fencingToken, settlement, more = {}) => {
      const attempt = { fencingToken, settlement, more };
      const written = await write(attempt);
      if (written === 'later') {
        pending.add(attempt);
        scheduleRetry();
      }
      return written;
    },
  };
}
