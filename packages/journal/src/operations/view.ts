import type { FailureOutcome, ToolSpec } from '@toolkeel/contract';
import { readAnswer } from '../answer/answer.js';
import { effectiveArguments, maskSensitive, requestedArguments } from '../answer/arguments.js';
import type { BlockedView } from '../blocked.js';
import type { JournalContext } from '../context.js';
import { displayKey } from '../flow/replay.js';
import type { Approval, Operation, OperationState } from '../operation.js';
import { isEncrypted, type Encryption } from '../encryption/encryption.js';

type Masked = ReturnType<typeof maskSensitive>;

/** An approval as the operator sees it. */
export interface ApprovalView {
  readonly rule: string;
  readonly explanation: string;
  /** A decision names it, so that it applies only to the arguments that the operator saw. */
  readonly hash: string;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly cost?: NonNullable<Approval['cost']>;
  /** The caller set `allow_duplicate`. */
  readonly duplicate?: true;
  readonly edited: boolean;
  readonly edited_by?: string;
  readonly edited_at?: string;
  /** The arguments before the edit, if it was edited. */
  readonly requested_arguments?: Masked;
  /** When it is executed at the earliest. */
  readonly scheduled_for?: string;
  readonly decision?: NonNullable<Approval['decision']>;
  readonly decided_at?: string;
  readonly decided_by?: string;
  readonly reason?: string;
}

/** An operation as JSON, for the CLI, the console and agents. Sensitive arguments are masked. */
export interface OperationView {
  readonly id: string;
  readonly tool: string;
  readonly account: string;
  readonly effect: Operation['effect'];
  readonly state: OperationState;
  readonly outcome?: FailureOutcome;
  readonly code?: string;
  readonly key: string;
  readonly correlation_id: string;
  readonly created_at: string;
  readonly sending_at?: string;
  readonly settled_at?: string;
  readonly held_until?: string;
  /** When its final answer last reached a caller. */
  readonly delivered_at?: string;
  /** Absent if this process cannot decrypt them or cannot tell which are sensitive. */
  readonly arguments?: Masked;
  readonly steps: readonly { readonly name: string; readonly state: 'sending' | 'done' }[];
  readonly approval?: ApprovalView;
  /** Why it is not executed although approved, or not reconciled. Only of a single shown operation. */
  readonly blocked?: BlockedView;
  /** Which part of the stored row is unreadable. */
  readonly damaged?: string;
  /** The answer that repeats receive. */
  readonly answer?: { readonly data?: unknown; readonly error?: unknown };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Builds views with the tool specs of this process. */
export function viewer({
  encryption,
  tools,
}: JournalContext): (operation: Operation) => OperationView {
  return (operation) => {
    const spec = tools.specs().find(({ name }) => name === operation.tool);
    return viewOf(encryption, operation, spec);
  };
}

/** `spec`: undefined if this process does not have the tool. */
function viewOf(
  encryption: Encryption,
  operation: Operation,
  spec: ToolSpec | undefined,
): OperationView {
  const { id, tool, account, effect, state, outcome, code, correlationId, approval } = operation;
  const { createdAt, sendingAt, settledAt, heldUntil, deliveredAt } = operation;
  const shown = argumentsOf(encryption, operation, spec);
  const requested =
    approval?.editedArgs === undefined
      ? undefined
      : argumentsOf(encryption, operation, spec, requestedArguments);
  const answer = answerOf(operation);
  return {
    id,
    tool,
    account,
    effect,
    state,
    ...(outcome && { outcome }),
    ...(code !== undefined && { code }),
    key: displayKey(operation),
    correlation_id: correlationId,
    created_at: iso(createdAt),
    ...(sendingAt !== undefined && { sending_at: iso(sendingAt) }),
    ...(settledAt !== undefined && { settled_at: iso(settledAt) }),
    ...(heldUntil !== undefined && { held_until: iso(heldUntil) }),
    ...(deliveredAt !== undefined && { delivered_at: iso(deliveredAt) }),
    ...(shown && { arguments: shown }),
    steps: operation.steps.map(({ name, state: at }) => ({ name, state: at })),
    ...(approval && { approval: approvalView(approval, requested) }),
    ...(answer && { answer }),
    ...(operation.damaged !== undefined && { damaged: operation.damaged }),
  };
}

function approvalView(approval: Approval, requested: Masked | undefined): ApprovalView {
  const { rule, explanation, hash, cost, duplicate, decision, decidedBy, reason } = approval;
  const { requestedAt, expiresAt, decidedAt, editedArgs, editedBy, editedAt } = approval;
  const { scheduledFor } = approval;
  return {
    rule,
    explanation,
    hash,
    requested_at: iso(requestedAt),
    expires_at: iso(expiresAt),
    ...(cost && { cost }),
    ...(duplicate && { duplicate }),
    edited: editedArgs !== undefined,
    ...(editedBy !== undefined && { edited_by: editedBy }),
    ...(editedAt !== undefined && { edited_at: iso(editedAt) }),
    ...(requested && { requested_arguments: requested }),
    ...(scheduledFor !== undefined && { scheduled_for: iso(scheduledFor) }),
    ...(decision && { decision }),
    ...(decidedAt !== undefined && { decided_at: iso(decidedAt) }),
    ...(decidedBy !== undefined && { decided_by: decidedBy }),
    ...(reason !== undefined && { reason }),
  };
}

/** The masked arguments, by default as executed. */
function argumentsOf(
  encryption: Encryption,
  operation: Operation,
  spec: ToolSpec | undefined,
  open = effectiveArguments,
): Masked | undefined {
  const sensitive = spec?.sensitive ?? knownSensitive(operation);
  if (!sensitive) return undefined;
  try {
    return maskSensitive({ sensitive }, open(encryption, operation));
  } catch {
    return undefined;
  }
}

/** Without the tool's spec. An approval stores the names, because the operator must see its arguments. */
function knownSensitive({ args, approval }: Operation): readonly string[] | undefined {
  if (approval) return approval.sensitive ?? [];
  return isEncrypted(args) ? undefined : [];
}

function answerOf({ answer }: Operation): OperationView['answer'] | undefined {
  const settled = readAnswer(answer)?.settled;
  if (!settled) return undefined;
  if (settled.ok) return { data: settled.data };
  const { data, error } = settled;
  return data === undefined ? { error } : { data, error };
}
