import { toolError, windowOf, type IdempotencyMeta, type Settled } from '@toolkeel/contract';
import { readAnswer, withAdvice, withOperation } from '../answer/answer.js';
import {
  approvalDenied,
  approvalExpired,
  approvalRequired,
  unknownOutcome,
} from '../answer/errors.js';
import { isSameDedupKey, keyGivenTo, scopedDedupKey, type Operation } from '../operation.js';
import type { CallRequest } from './call.js';
import { endedExecution, type Execution } from './execute.js';

const ANSWER_UNREADABLE =
  'The operation is settled, but its stored answer is unreadable. Do not repeat it: check the result at the upstream.';

/** Whether repeats get the stored answer of the operation. */
export function isFinished({ state }: Operation): boolean {
  return state === 'succeeded' || state === 'rejected' || state === 'reconciled';
}

/** The stored answer of a finished operation, for every caller of the same act. */
export function replay(operation: Operation): Execution {
  return { ...endedExecution(operation, replayedAnswer(operation), 'act', true), isReplay: true };
}

/** The answer to a repeat of an operation that is not in flight. */
export function replayedAnswer(operation: Operation): Settled {
  const { id, state, approval, answer } = operation;
  if (state === 'denied') return approvalDenied(operation);
  if (state === 'expired') return approvalExpired(operation);
  if (state === 'awaiting_approval' && approval) return approvalRequired(id, approval);
  const stored = readAnswer(answer)?.settled;
  if (state === 'unknown') {
    // After a lease expiry the stored answer is that of an earlier run, which does not apply.
    const isCurrent = stored && !stored.ok && stored.error.outcome === 'unknown';
    return isCurrent ? withOperation(withAdvice(stored), id) : unknownOutcome(id);
  }
  if (stored) return withOperation(stored, id);
  const { input } = toolError('internal_error', ANSWER_UNREADABLE, { outcome: operation.outcome });
  return { ok: false, error: { ...input, operationId: id } };
}

/** Warns about a replay that the caller may not expect: of other arguments, outside the window, or under another name. */
export function replayWarning(
  operation: Operation,
  { dedupKey, key, call, argsHash }: CallRequest,
  now: number,
): string | undefined {
  const { settledAt = now, outcome } = operation;
  if (operation.effect !== 'once' || outcome === 'not_executed') return undefined;
  const at = new Date(operation.sendingAt ?? operation.createdAt).toISOString();
  const isEdited = operation.approval?.editedArgs !== undefined;
  if (dedupKey.by === 'template' && operation.argsHash !== argsHash && !isEdited) {
    return `This act was performed at ${at} with other arguments and was NOT performed again: this is its first result, and what differs in this call was not applied. To perform it once more, set allow_duplicate: true with a new idempotency_key.`;
  }
  const callerKey = keyGivenTo(key === undefined ? { dedupKey } : { dedupKey, key });
  const isExpected =
    (callerKey !== undefined && callerKey === keyGivenTo(operation)) ||
    (isSameDedupKey(dedupKey, operation.dedupKey) &&
      (dedupKey.by !== 'content' || now - settledAt <= windowOf(call.tool)));
  if (isExpected) return undefined;
  return `This act was first performed at ${at} and was NOT performed again: its result had not been delivered, or it was requested under another name. To perform it once more, set allow_duplicate: true with a new idempotency_key.`;
}

type Keyed = Pick<Operation, 'account' | 'tool' | 'dedupKey' | 'key'>;

/** The idempotency key of the operation, or a short name derived from its dedup key. */
export function displayKey(operation: Keyed): string {
  return keyGivenTo(operation) ?? derivedName(operation);
}

function derivedName({ account, tool, dedupKey }: Keyed): string {
  return `${dedupKey.by}:${scopedDedupKey(account, tool, dedupKey).slice(0, 16)}`;
}

/** Builds `meta.idempotency`. Does not disclose the idempotency key of another caller. */
export function idempotencyMeta(
  operation: Operation,
  replayed: boolean,
  caller: Pick<Operation, 'dedupKey' | 'key'>,
): IdempotencyMeta {
  const first_at = new Date(operation.createdAt).toISOString();
  const key = keyGivenTo(operation);
  const isOwn = key !== undefined && key === keyGivenTo(caller);
  return { key: isOwn ? key : derivedName(operation), replayed, first_at };
}
