import type { ErrorCode } from './table.js';

/** What is known of a mutation that did not succeed. */
export type FailureOutcome = 'executed' | 'not_executed' | 'unknown';

export type PolicyDecision = 'denied' | 'routed_to_approval';

const decisions = Object.freeze({
  policy_denied_blocked: 'denied',
  policy_denied_rate_limited: 'denied',
  policy_denied_hard_rule: 'denied',
  policy_denied_user_rule: 'denied',
  approval_denied: 'denied',
  approval_required: 'routed_to_approval',
} as const satisfies Partial<Record<ErrorCode, PolicyDecision>>);

const onlyOutcomes = Object.freeze({
  // Nothing was sent: the call was stopped before its handler could act.
  validation_error: 'not_executed',
  policy_denied_blocked: 'not_executed',
  policy_denied_rate_limited: 'not_executed',
  policy_denied_hard_rule: 'not_executed',
  policy_denied_user_rule: 'not_executed',
  dry_run: 'not_executed',
  approval_required: 'not_executed',
  approval_denied: 'not_executed',
  approval_expired: 'not_executed',
  idempotency_conflict: 'not_executed',
  outcome_unknown: 'unknown',
} as const satisfies Partial<Record<ErrorCode, FailureOutcome>>);

/** The outcomes that a code can be combined with. */
export type OutcomeOf<Code extends ErrorCode> = Code extends keyof typeof onlyOutcomes
  ? (typeof onlyOutcomes)[Code]
  : FailureOutcome;

/** Policy's word follows from the code, so the two cannot contradict each other. */
export function policyDecisionOf(code: ErrorCode): PolicyDecision | undefined {
  const known: Partial<Record<ErrorCode, PolicyDecision>> = decisions;
  return known[code];
}

/** The one outcome that a code allows, or undefined where every outcome is possible. */
export function onlyOutcomeOf(code: ErrorCode): FailureOutcome | undefined {
  const known: Partial<Record<ErrorCode, FailureOutcome>> = onlyOutcomes;
  return known[code];
}
