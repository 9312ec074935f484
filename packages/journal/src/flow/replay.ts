import { toolError, type IdempotencyMeta, type Settled } from '@toolkeel/contract';
import { withOperation } from '../answer/known.js';
import {
  approvalDenied,
  approvalExpired,
  approvalRequired,
  unknownOutcome,
} from '../answer/refusals.js';
import { readAnswer } from '../answer/stored.js';
import { keyGivenTo, type Operation } from '../operation.js';
import { slotOf } from '../slot.js';

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
    return saysSo ? withOperation(stored, id) : unknownOutcome(id);
  }
  if (stored) return withOperation(stored, id);
  const { input } = toolError('internal_error', LOST, { outcome: operation.outcome });
  return { ok: false, error: { ...input, operationId: id } };
}

type Named = Pick<Operation, 'account' | 'tool' | 'identity' | 'key'>;

/** Which act it was: the key that it was given, or a short name of ours. */
export function keyOf(operation: Named): string {
  return keyGivenTo(operation) ?? nameOf(operation);
}

function nameOf({ account, tool, identity }: Named): string {
  return `${identity.by}:${slotOf(account, tool, identity).slice(0, 16)}`;
}

/** For `meta.idempotency`. A key that somebody else gave it is not for this caller. */
export function idempotencyMeta(
  operation: Operation,
  replayed: boolean,
  asked: Pick<Operation, 'identity' | 'key'>,
): IdempotencyMeta {
  const first_at = new Date(operation.createdAt).toISOString();
  const key = keyGivenTo(operation);
  const isOwn = key !== undefined && key === keyGivenTo(asked);
  return { key: isOwn ? key : nameOf(operation), replayed, first_at };
}
