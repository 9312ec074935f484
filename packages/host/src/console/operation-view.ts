import type { ActionName, ApprovalSummary, Operation, OperationSummary } from '@toolkeel/console';
import type { OperationView } from '@toolkeel/journal';

export function summaryOf(operation: OperationView): OperationSummary {
  const { id, tool, account, effect, state, outcome, code, key } = operation;
  const { correlation_id, created_at, sending_at, settled_at, arguments: args } = operation;
  const decisive = args && decisiveArgument(args);
  return {
    id,
    tool,
    account,
    effect,
    state,
    ...(outcome && { outcome }),
    ...(code !== undefined && { code }),
    key,
    correlation_id,
    created_at,
    ...(sending_at !== undefined && { sending_at }),
    ...(settled_at !== undefined && { settled_at }),
    ...(decisive && { decisive }),
  };
}

/** Undefined for an operation that no operator has to decide. */
export function approvalSummary(operation: OperationView): ApprovalSummary | undefined {
  const { approval, arguments: args } = operation;
  if (!approval) return undefined;
  const { rule, explanation, hash, requested_at, expires_at, scheduled_for } = approval;
  const { cost, edited, decision, decided_by } = approval;
  return {
    ...summaryOf(operation),
    rule,
    explanation,
    hash,
    requested_at,
    expires_at,
    ...(scheduled_for !== undefined && { scheduled_for }),
    ...(cost && { cost }),
    edited,
    ...(decision && { decision }),
    ...(decided_by !== undefined && { decided_by }),
    ...(args && { arguments: args }),
  };
}

/** What people read first, in this order; otherwise the id of what is changed, or the first text. */
const TELLING = ['text', 'body', 'message', 'content', 'title', 'subject', 'comment', 'name'];
const MAX_SHOWN = 500;

export function decisiveArgument(
  args: Readonly<Record<string, unknown>>,
): OperationSummary['decisive'] {
  const names = Object.keys(args).filter((name) => name !== 'idempotency_key');
  const isText = (name: string): boolean => typeof args[name] === 'string' && args[name] !== '';
  const name =
    TELLING.find((telling) => names.includes(telling) && args[telling] !== '') ??
    names.find((candidate) => /(^|_)ids?$/.test(candidate)) ??
    names.find(isText) ??
    names[0];
  if (name === undefined) return undefined;
  const given = args[name];
  const value = typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
  // Not in the middle of a character.
  const shown = value.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, '');
  return { name, value: shown, cut: shown.length < value.length };
}

/** The actions that are possible in this state. */
export function actionsOf({ state, approval, steps, damaged }: Operation): readonly ActionName[] {
  if (damaged !== undefined) return [];
  if (state === 'awaiting_approval' && approval) {
    return approval.decision === undefined
      ? ['approve', 'edit', 'edit_and_approve', 'reject']
      : ['withdraw'];
  }
  if (state === 'unknown') return ['check_upstream', 'it_happened', 'it_did_not_happen'];
  const isHalfDone = state === 'claimed' && steps.length > 0;
  return isHalfDone ? ['it_happened', 'it_did_not_happen'] : [];
}

/** For an approval that cannot be decided any more. */
export function nextStep({ state, approval, code }: Operation): string | undefined {
  if (state === 'expired') {
    return 'It expired without a decision, and nothing was sent. The agent has to request it again; approvals.expiresInHours in the configuration gives more time.';
  }
  if (state === 'denied') return 'It was rejected, and nothing was sent. The agent got the reason.';
  if (state === 'awaiting_approval' && approval?.decision === 'approved') {
    return approval.scheduled_for === undefined
      ? 'It is approved. A live process that has the tool executes it.'
      : 'It is approved, and executed at its time.';
  }
  if (state === 'unknown')
    return 'It was sent, and its outcome is unknown. Settle it under operations.';
  if (state === 'awaiting_approval') return undefined;
  return `It is ${state}${code === undefined ? '' : ` (${code})`}.`;
}
