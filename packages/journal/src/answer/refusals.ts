import {
  toolError,
  type Arguments,
  type CostEstimate,
  type ErrorCode,
  type SettledFailure,
  type ToolError,
  type ToolSpec,
} from '@toolkeel/contract';
import { JournalError } from '../error.js';
import type { Approval, Operation } from '../operation.js';
import type { Decision } from '../options.js';
import type { Limit } from '../store/store.js';
import { maskSensitive } from './mask.js';

/** What the journal answers in place of a tool, and which operation it speaks of. */
export function refusal(error: ToolError, operationId?: string): SettledFailure {
  return {
    ok: false,
    error: operationId === undefined ? error.input : { ...error.input, operationId },
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

export function conflict({ id, createdAt }: Operation): SettledFailure {
  const text =
    'This idempotency key was used for other arguments. Nothing was done. Use a new key for a new act, or the first arguments to get their result.';
  return refusal(
    toolError('idempotency_conflict', text, { details: { first_at: iso(createdAt) } }),
    id,
  );
}

/** Two explicit keys say that two acts are meant; but the first may have happened already. */
export function unsettledTwin({ id, createdAt, state }: Operation): ToolError {
  const first =
    state === 'unknown'
      ? 'has an unknown outcome'
      : state === 'claimed'
        ? 'stopped half way'
        : 'was executed, and its result was not delivered yet';
  const text = `Operation ${id} has the same arguments under another key and ${first}. Nothing was sent. To get its result, call again with its key or ask get_operation. To perform the act once more, set allow_duplicate: true with a new idempotency_key.`;
  return toolError('idempotency_conflict', text, { details: { first_at: iso(createdAt) } });
}

export function inFlight(
  { id, createdAt }: Pick<Operation, 'id' | 'createdAt'>,
  { state, retryAfterMs }: { readonly state: string; readonly retryAfterMs: number },
): SettledFailure {
  const text =
    'The same operation is still being carried out. Call again with the same arguments to get its result, or ask get_operation.';
  const { input } = toolError('idempotency_in_flight', text, {
    retryAfterMs,
    details: { state, since: iso(createdAt) },
  });
  return { ok: false, error: { ...input, operationId: id } };
}

/** Somebody in this process is at work on it, and has not said yet under which id. */
export function underWay(operation: Operation | undefined, retryAfterMs: number): SettledFailure {
  if (operation) return inFlight(operation, { state: operation.state, retryAfterMs });
  const text = 'The same operation is just being started. Call again with the same arguments.';
  return refusal(toolError('idempotency_in_flight', text, { retryAfterMs }));
}

/** True of every operation that the journal keeps, whatever its tool says. */
export const UNKNOWN =
  'The request was sent and its outcome is not known yet: it may have been executed. It is never sent again. Calling again with the same arguments is safe and reports the result as soon as it is known; get_operation does, too. Do not rephrase it and do not set allow_duplicate unless a second act is meant. The operator can settle it.';

export function unknownOutcome(
  id: string,
  causeCode?: ErrorCode,
  clock?: string,
): SettledFailure<'outcome_unknown'> {
  const details =
    causeCode === undefined
      ? undefined
      : { cause_code: causeCode, ...(clock !== undefined && { clock }) };
  const { input } = toolError('outcome_unknown', UNKNOWN, { outcome: 'unknown', details });
  return { ok: false, error: { ...input, operationId: id } };
}

export function approvalRequired(
  id: string,
  approval: Pick<Approval, 'rule' | 'explanation' | 'expiresAt' | 'cost'>,
): SettledFailure {
  const { rule, explanation, expiresAt, cost } = approval;
  const text = `A person must approve this first (${explanation}). Nothing was sent. It is carried out once it is approved: ask get_operation, or call again with the same arguments.`;
  const details = { rule, expires_at: iso(expiresAt), ...(cost && { cost }) };
  return refusal(toolError('approval_required', text, { details }), id);
}

export function approvalDenied({ id, approval }: Operation): SettledFailure {
  const text = 'A person refused this. Nothing was sent. Do not ask again in other words.';
  const details = approval?.reason === undefined ? undefined : { reason: approval.reason };
  return refusal(toolError('approval_denied', text, { details }), id);
}

export function approvalExpired({ id, approval }: Operation): SettledFailure {
  const text =
    'Nobody approved this in time. Nothing was sent. Ask the operator before you try again.';
  const details = approval === undefined ? undefined : { expired_at: iso(approval.expiresAt) };
  return refusal(toolError('approval_expired', text, { details }), id);
}

/** Why a policy does not let it be sent; undefined: it could not say. */
export function policyRefusal(
  decision: Extract<Decision, { kind: 'deny' | 'dry_run' }> | undefined,
  tried: { readonly tool: ToolSpec; readonly account: string; readonly args: Arguments },
  cost?: CostEstimate,
): ToolError {
  if (!decision) {
    const text =
      'The policy could not be evaluated, so nothing was sent. The operator finds the cause.';
    return toolError('policy_error', text, { outcome: 'not_executed' });
  }
  const { rule, explanation } = decision;
  if (decision.kind === 'deny') {
    const text = `Not allowed: ${explanation} Nothing was sent.`;
    return toolError(decision.code, text, { details: { rule, explanation } });
  }
  const { tool, account, args } = tried;
  const text = `Dry run: ${explanation} Nothing was sent. details.would_send shows what a real call would have asked for.`;
  const shown = maskSensitive(tool, args);
  const would_send = { tool: tool.name, account, arguments: shown, ...(cost && { cost }) };
  return toolError('dry_run', text, { details: { rule, explanation, would_send } });
}

export function limited({ name }: Limit, retryAfterMs: number): ToolError {
  const text = `The limit "${name}" is used up. Nothing was sent. Wait before you try again.`;
  return toolError('policy_denied_rate_limited', text, {
    retryAfterMs,
    details: { rule: name },
  });
}

/** A person who is asked a thousand things at once approves them all, or none. */
export function tooManyWait(max: number): ToolError {
  const text = `A person must approve this first, and ${max} requests of this account wait already. Nothing was sent, and nobody was asked. Ask again when some of them were decided.`;
  const rule = 'journal.maxPendingApprovals';
  return toolError('policy_denied_rate_limited', text, { details: { rule } });
}

/** `cause`: what the store has thrown. */
export function journalDown(outcome: 'not_executed' | 'unknown', cause?: unknown): ToolError {
  if (outcome === 'unknown') {
    const text = 'The journal cannot be written, and how the operation ended is not known.';
    return toolError('db_error', text, { outcome });
  }
  const text = 'The journal cannot be written, so nothing was sent. Try again later.';
  return toolError('db_error', isSkew(cause) ? cause.message : text, { outcome });
}

/** Other causes are for the operator's log. This one says what the user of the agent can do. */
function isSkew(cause: unknown): cause is JournalError {
  return cause instanceof JournalError && cause.reason === 'clock';
}

/** It has not even said whether there is such an operation: an earlier call may have executed it. */
export function journalSilent(): SettledFailure {
  const text =
    'The journal did not answer in time. This call sent nothing, and an earlier call may have executed it. Call again later with the same arguments: it is executed once, and its result is replayed.';
  return refusal(toolError('db_error', text, { outcome: 'unknown' }));
}

/** `operation`: somebody has it, so nothing can be said of how it ends. */
export function journalFailed(operation?: Pick<Operation, 'id'>, cause?: unknown): SettledFailure {
  if (!operation) return refusal(journalDown('not_executed', cause));
  const text = 'The journal cannot be read or written. Call again later with the same arguments.';
  return refusal(toolError('db_error', text, { outcome: 'unknown' }), operation.id);
}
