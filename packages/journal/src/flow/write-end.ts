import type { ErrorCode, Settled } from '@toolkeel/contract';
import { writeAnswer } from '../answer/stored.js';
import { executedHoldOf, holdOf } from '../identity/hold.js';
import type { Kit } from '../kit.js';
import type { Settlement } from '../store/store.js';
import type { Work } from './carry-out.js';
import type { Conclusion } from './conclude.js';
import type { Handle } from './handle.js';
import type { FlowParts } from './parts.js';

/** An approved operation that could not be carried out for now is tried again, after this long. */
export const AGAIN_MS = 30_000;

export function codeOf(answer: Settled): ErrorCode | 'ok' {
  return answer.ok ? 'ok' : answer.error.code;
}

/** Writes down how an operation of ours ended. One that nobody took over stays as it was. */
export async function writeEnd(
  parts: FlowParts,
  work: Pick<Work, 'operation' | 'call'>,
  handle: Pick<Handle, 'fencingToken' | 'unwritten'>,
  conclusion: Conclusion,
  discard = false,
): Promise<void> {
  const fencingToken = handle.fencingToken();
  if (!fencingToken) return;
  const { tool, args } = work.call;
  const { account } = work.operation;
  const settlement = await settlementFor(parts.kit, work, conclusion);
  const releases = conclusion.state === 'succeeded' ? await parts.undone(tool, account, args) : [];
  await parts.settler.settle(
    fencingToken,
    { ...settlement, ...(releases.length > 0 && { releases }), ...(discard && { discard }) },
    {
      first: handle.unwritten(),
      onWritten: () => void parts.kit.running.delete(work.operation.id),
    },
  );
}

async function settlementFor(
  kit: Kit,
  { operation, call }: Pick<Work, 'operation' | 'call'>,
  { state, outcome, answer, refund }: Conclusion,
): Promise<Settlement> {
  const code = codeOf(answer);
  const ended = { outcome, code, ...(refund && { refund }) };
  if (state === 'succeeded' || state === 'rejected') {
    const holdFor = state === 'succeeded' ? executedHoldOf : holdOf;
    const hold = holdFor(operation, call.tool, kit.times);
    return { ...ended, state, answer: writeAnswer(answer), ...hold };
  }
  if (state === 'unknown') {
    return { ...ended, state, answer: writeAnswer(answer, await storeNow(kit)), holdMs: 0 };
  }
  // What a person approved is not lost over a limit or a connection.
  if (state === 'released' && operation.approval?.decision === 'approved') {
    const holdMs = Math.max(answer.ok ? 0 : (answer.error.retryAfterMs ?? 0), AGAIN_MS);
    return { ...ended, state: 'awaiting_approval', answer: writeAnswer(answer), holdMs };
  }
  return { ...ended, state, answer: writeAnswer(answer), holdMs: 0 };
}

/** On the clock that everybody shares: others measure from then how long the upstream may still act. */
async function storeNow({ store, clock, report }: Kit): Promise<number> {
  try {
    return await store.now();
  } catch (cause) {
    report(cause);
    return clock.wallNow();
  }
}
