import {
  raise,
  toolError,
  type Arguments,
  type CostEstimate,
  type ErrorCode,
  type SettledFailure,
  type ToolError,
  type ToolSpec,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { JournalError } from '../error.js';
import type { Approval, Operation } from '../operation.js';
import type { Decision } from '../options.js';
import type { Limit } from '../store/store.js';
import { maskSensitive } from './arguments.js';

/** Turns an error of the journal into the answer of a call. */
export function refusal(error: ToolError, operationId?: string): SettledFailure {
  return {
    ok: false,
    error: operationId === undefined ? error.input : { ...error.input, operationId },
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

// Idempotency

export function keyConflict({ id, createdAt }: Operation): SettledFailure {
  const text =
    'This idempotency key was used with other arguments. Nothing was sent. Use a new key for a new act, or the first arguments to get their result.';
  return refusal(
    toolError('idempotency_conflict', text, { details: { first_at: iso(createdAt) } }),
    id,
  );
}

/** Two explicit keys mean two acts, but the first operation may have been executed already. */
export function contentConflict({ id, createdAt, state }: Operation): ToolError {
  const first =
    state === 'unknown'
      ? 'has an unknown outcome'
      : state === 'claimed'
        ? 'stopped half way'
        : 'was executed, but its result is undelivered';
  const text = `Operation ${id} has the same arguments under another key and ${first}. Nothing was sent. To get its result, call again with its key or use get_operation. To perform the act once more, set allow_duplicate: true with a new idempotency_key.`;
  return toolError('idempotency_conflict', text, { details: { first_at: iso(createdAt) } });
}

export function inFlight(
  { id, createdAt }: Pick<Operation, 'id' | 'createdAt'>,
  { state, retryAfterMs }: { readonly state: string; readonly retryAfterMs: number },
): SettledFailure {
  const text =
    'The same operation is in flight. Call again with the same arguments to get its result, or use get_operation.';
  const { input } = toolError('idempotency_in_flight', text, {
    retryAfterMs,
    details: { state, since: iso(createdAt) },
  });
  return { ok: false, error: { ...input, operationId: id } };
}

/** A scheduled operation before its time. */
export function waitsForTime(
  { clock }: { readonly clock: { wallNow: () => number } },
  { id, createdAt, approval }: Operation,
): SettledFailure {
  const at = approval?.scheduledFor ?? createdAt;
  const text = `The operation is scheduled for ${iso(at)} and is executed then. get_operation shows its result.`;
  const retryAfterMs = Math.max(0, Math.ceil(at - clock.wallNow()));
  const { input } = toolError('idempotency_in_flight', text, {
    retryAfterMs,
    details: { state: 'scheduled', since: iso(createdAt) },
  });
  return { ok: false, error: { ...input, operationId: id } };
}

/** `operation`: undefined while another call of this process is still claiming it. */
export function inFlightHere(
  operation: Operation | undefined,
  retryAfterMs: number,
): SettledFailure {
  if (operation) return inFlight(operation, { state: operation.state, retryAfterMs });
  const text = 'The same operation is being started. Call again with the same arguments.';
  return refusal(toolError('idempotency_in_flight', text, { retryAfterMs }));
}

/** Holds for every journaled operation, whatever the tool's own message says. */
export const UNKNOWN =
  'The request was sent and its outcome is unknown: it may have been executed. It is never sent again. Calling again with the same arguments is safe and returns the result once it is known; so does get_operation. Do not rephrase it, and do not set allow_duplicate unless you intend a second act. The operator can settle it.';

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

// Policy and approvals

export function approvalRequired(
  id: string,
  approval: Pick<Approval, 'rule' | 'explanation' | 'expiresAt' | 'cost' | 'scheduledFor'>,
): SettledFailure {
  const { rule, explanation, expiresAt, cost, scheduledFor } = approval;
  const time = scheduledFor === undefined ? '' : `, not before ${iso(scheduledFor)}`;
  const text = `An operator must approve this call first (${explanation}). Nothing was sent. It is executed once approved${time}: use get_operation, or call again with the same arguments.`;
  const details = { rule, expires_at: iso(expiresAt), ...(cost && { cost }) };
  return refusal(toolError('approval_required', text, { details }), id);
}

export function approvalDenied({ id, approval, code }: Operation): SettledFailure {
  if (code === 'cancelled') {
    const withdrawn = 'This call was cancelled before it was executed. Nothing was sent.';
    return refusal(toolError('cancelled', withdrawn, { outcome: 'not_executed' }), id);
  }
  const text = 'An operator rejected this call. Nothing was sent. Do not rephrase it.';
  const details = approval?.reason === undefined ? undefined : { reason: approval.reason };
  return refusal(toolError('approval_denied', text, { details }), id);
}

export function approvalExpired({ id, approval }: Operation): SettledFailure {
  const text =
    approval?.decision === 'approved'
      ? 'No server was running at the time of this call, or it could not be executed until its expiry. Nothing was sent. Request it again.'
      : 'The approval expired before an operator decided. Nothing was sent. Ask the operator before you try again.';
  const details = approval === undefined ? undefined : { expired_at: iso(approval.expiresAt) };
  return refusal(toolError('approval_expired', text, { details }), id);
}

/** `decision`: undefined if the policy failed. */
export function policyRefusal(
  decision: Extract<Decision, { kind: 'deny' | 'dry_run' }> | undefined,
  call: { readonly tool: ToolSpec; readonly account: string; readonly args: Arguments },
  cost?: CostEstimate,
): ToolError {
  if (!decision) {
    const text = 'The policy could not be evaluated, so nothing was sent. See the server log.';
    return toolError('policy_error', text, { outcome: 'not_executed' });
  }
  const { rule, explanation } = decision;
  if (decision.kind === 'deny') {
    const text = `Not allowed: ${explanation} Nothing was sent.`;
    return toolError(decision.code, text, { details: { rule, explanation } });
  }
  const { tool, account, args } = call;
  const text = `Dry run: ${explanation} Nothing was sent. details.would_send shows what a real call would send.`;
  const masked = maskSensitive(tool, args);
  const would_send = { tool: tool.name, account, arguments: masked, ...(cost && { cost }) };
  return toolError('dry_run', text, { details: { rule, explanation, would_send } });
}

export function policyLimited({ name }: Limit, retryAfterMs: number): ToolError {
  if (name.startsWith('hard:')) {
    const explanation = `The limit of the hard rule "${name}" is used up.`;
    return toolError('policy_denied_hard_rule', `Not allowed: ${explanation} Nothing was sent.`, {
      details: { rule: name, explanation },
    });
  }
  const text = `The policy limit "${name}" is used up. Nothing was sent. Wait before you try again.`;
  return toolError('policy_denied_rate_limited', text, {
    retryAfterMs,
    details: { rule: name },
  });
}

/** Keeps the approval queue short enough for an operator to review each entry. */
export function tooManyPending(max: number): ToolError {
  const text = `An operator must approve this call first, and ${max} calls of this account are already waiting. Nothing was sent and no approval was requested. Try again once some are decided.`;
  const rule = 'journal.maxPendingApprovals';
  return toolError('policy_denied_rate_limited', text, { details: { rule } });
}

// Journal failures

/** `cause`: thrown by the store. */
function journalUnavailable(outcome: 'not_executed' | 'unknown', cause?: unknown): ToolError {
  if (outcome === 'unknown') {
    const text = 'The journal cannot be written, and the outcome of the operation is unknown.';
    return toolError('db_error', text, { outcome });
  }
  const text = 'The journal cannot be written, so nothing was sent. Try again later.';
  return toolError('db_error', isClockSkew(cause) ? cause.message : text, { outcome });
}

/** Clock skew is the only store failure that the user of the agent can fix; others are only logged. */
function isClockSkew(cause: unknown): cause is JournalError {
  return cause instanceof JournalError && cause.reason === 'clock';
}

/** The claim did not return in time, so an earlier call may have executed the operation. */
export function journalTimeout(): SettledFailure {
  const text =
    'The journal did not answer in time. This call sent nothing, but an earlier call may have executed the operation. Call again later with the same arguments: it is executed at most once, and its result is replayed.';
  return refusal(toolError('db_error', text, { outcome: 'unknown' }));
}

/** `operation`: already claimed, so its outcome is unknown to this call. */
export function journalFailed(operation?: Pick<Operation, 'id'>, cause?: unknown): SettledFailure {
  if (!operation) return refusal(journalUnavailable('not_executed', cause));
  const text = 'The journal cannot be read or written. Call again later with the same arguments.';
  return refusal(toolError('db_error', text, { outcome: 'unknown' }), operation.id);
}

/** Thrown into a handler that asks to send and must not. Nothing was sent by that request. */
export const refuseSend = {
  deadlineExceeded: (): never => {
    throw new FaultError({ kind: 'timeout', clock: 'deadline', sent: 'no' });
  },
  cancelled: (cause: unknown): never => {
    throw new FaultError({ kind: 'cancelled', sent: 'no', cause });
  },
  ownershipLost: (): never =>
    raise(
      toolError(
        'db_error',
        "This process's lease on the operation expired. It sent nothing. Try again.",
        { outcome: 'not_executed' },
      ),
    ),
  stepUnknown: (step: string): never =>
    raise(
      toolError(
        'outcome_unknown',
        `The outcome of step ${step} is unknown. It is never sent again, and no later step is sent. Call again later, or ask the operator to settle it.`,
        { outcome: 'unknown' },
      ),
    ),
  stepResultInvalid: (step: string): never =>
    raise(
      toolError(
        'serialization_error',
        `The stored result of step ${step} does not match the tool's schema, so no later step is sent. Ask the operator to settle the operation.`,
      ),
    ),
  stepUnwritten: (): never =>
    raise(
      toolError(
        'db_error',
        'The journal cannot be written, so the operation stops here. Call again later with the same arguments to resume it.',
      ),
    ),
  alreadySent: (): never =>
    raise(
      toolError(
        'internal_error',
        'The tool tried to send its request a second time, which was prevented. See the server log for this correlation id.',
        { outcome: 'unknown' },
      ),
    ),
  needsExplicitSend: (): never => {
    throw new TypeError("operation.step needs a tool that is defined with send: 'explicit'");
  },
  journalUnavailable: (outcome: 'not_executed' | 'unknown', cause?: unknown): never =>
    raise(journalUnavailable(outcome, cause)),
};
