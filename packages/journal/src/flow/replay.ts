import { toolError, windowOf, type IdempotencyMeta, type Settled } from '@toolkeel/contract';
import { withAdvice, withOperation } from '../answer/known.js';
import {
  approvalDenied,
  approvalExpired,
  approvalRequired,
  unknownOutcome,
} from '../answer/refusals.js';
import { readAnswer } from '../answer/stored.js';
import { isSameDedupKey, keyGivenTo, type Operation } from '../operation.js';
import { scopedDedupKey } from '../slot.js';
import type { Request } from './request.js';

const LOST =
  'It was settled, and the stored answer cannot be read any more. Do not repeat it: look at the result.';

/** What a repeat is told of an operation on which nobody works. */
export function replayOf(operation: Operation): Settled {
  const { id, state, approval, answer } = operation;
  if (state === 'denied') return approvalDenied(operation);
  if (state === 'expired') return approvalExpired(operation);
  if (state === 'awaiting_approval' && approval) return approvalRequired(id, approval);
  const stored = readAnswer(answer)?.settled;
  if (state === 'unknown') {
    // One that lapsed still has the answer of an earlier life, which says nothing of this one.
    const saysSo = stored && !stored.ok && stored.error.outcome === 'unknown';
    return saysSo ? withOperation(withAdvice(stored), id) : unknownOutcome(id);
  }
  if (stored) return withOperation(stored, id);
  const { input } = toolError('internal_error', LOST, { outcome: operation.outcome });
  return { ok: false, error: { ...input, operationId: id } };
}

/**
 * What a caller has to know of a replay that it may not expect: long after the act, or of an operation
 * that was asked for under another name.
 */
export function replayWarning(
  operation: Operation,
  { dedupKey, key, call }: Request,
  now: number,
): string | undefined {
  const { settledAt = now, outcome } = operation;
  if (operation.effect !== 'once' || outcome === 'not_executed') return undefined;
  const given = keyGivenTo(key === undefined ? { dedupKey } : { dedupKey, key });
  const isNamedAlike =
    (given !== undefined && given === keyGivenTo(operation)) ||
    (isSameDedupKey(dedupKey, operation.dedupKey) &&
      (dedupKey.by !== 'content' || now - settledAt <= windowOf(call.tool)));
  if (isNamedAlike) return undefined;
  const at = new Date(operation.sendingAt ?? operation.createdAt).toISOString();
  return `This act was first performed at ${at} and was NOT performed again: its result had not been delivered, or it was requested under another name. To perform it once more, set allow_duplicate: true with a new idempotency_key.`;
}

type Named = Pick<Operation, 'account' | 'tool' | 'dedupKey' | 'key'>;

/** Which act it was: the key that it was given, or a short name of ours. */
export function keyOf(operation: Named): string {
  return keyGivenTo(operation) ?? nameOf(operation);
}

function nameOf({ account, tool, dedupKey }: Named): string {
  return `${dedupKey.by}:${scopedDedupKey(account, tool, dedupKey).slice(0, 16)}`;
}

/** For `meta.idempotency`. A key that somebody else gave it is not for this caller. */
export function idempotencyMeta(
  operation: Operation,
  replayed: boolean,
  asked: Pick<Operation, 'dedupKey' | 'key'>,
): IdempotencyMeta {
  const first_at = new Date(operation.createdAt).toISOString();
  const key = keyGivenTo(operation);
  const isOwn = key !== undefined && key === keyGivenTo(asked);
  return { key: isOwn ? key : nameOf(operation), replayed, first_at };
}
