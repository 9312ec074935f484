import {
  isRetryable,
  outcomeOfFault,
  type ErrorCode,
  type FailureOutcome,
  type Settled,
  type SettledFailure,
} from '@toolkeel/contract';
import type { Operation } from '../operation.js';

/** How a handler ended, and what the journal saw of it. */
export interface RunEnd {
  readonly settled: Settled;
  readonly effect: Operation['effect'];
  /** What was sent and is spoken of by the error; `step`: one that surely did not happen. */
  readonly sent: 'nothing' | 'step' | 'operation';
  /** Steps that are done, in this life or in an earlier one. */
  readonly stepsDone: number;
  /** A step was sent, and nobody knows how it ended. */
  readonly stepOpen: boolean;
}

export interface Verdict {
  readonly state: 'succeeded' | 'rejected' | 'unknown' | 'released' | 'claimed';
  readonly outcome: FailureOutcome;
  /** Nothing left, so what the limits counted is given back. */
  readonly refund: boolean;
}

/** What the end of a handler makes of its operation. */
export function settlementOf(end: RunEnd): Verdict {
  const { settled, sent, stepOpen, effect } = end;
  // Whatever else was said: a step that nobody knows the end of is the truth about the operation.
  if (stepOpen && effect === 'once') return verdict('unknown', 'unknown');
  if (settled.ok) return verdict('succeeded', 'executed');
  if (stepOpen) return stopped(end, 'unknown');
  if (cameToItsEnd(settled, end)) return verdict('succeeded', 'executed');
  if (isUnmarked(end)) {
    return effect === 'once' ? verdict('unknown', 'unknown') : stopped(end, 'unknown');
  }
  if (sent === 'nothing') return stopped(end, 'not_executed', end.stepsDone === 0);

  const said = outcomeOf(settled, effect);
  // The handler did not know, and we looked. A request that nobody answered was not refused either.
  if (sent === 'step' && said === 'unknown') return stopped(end, 'not_executed');
  // After something was sent, an error that names no outcome says nothing that could be relied on.
  const outcome = sent === 'step' ? 'not_executed' : (said ?? 'unknown');
  if (outcome === 'executed') return verdict('succeeded', 'executed');
  if (outcome === 'unknown') {
    // Repeating an idempotent act gives the same end state, so nobody has to find out.
    return effect === 'once' ? verdict('unknown', 'unknown') : stopped(end, 'unknown');
  }
  const { error, fault } = settled;
  const isPart = sent === 'step' && end.stepsDone > 0;
  if (!isPart && !saysNothingOfTheRequest(error.code)) return verdict('rejected', outcome);
  return stopped(end, outcome, fault?.sent === 'no' && end.stepsDone === 0);
}

/**
 * An explicit tool failed without having called `operation.send`, in a way that does not prove that
 * nothing left: its client may have been used outside of it.
 */
export function isUnmarked({
  settled,
  sent,
  stepOpen,
}: Pick<RunEnd, 'settled' | 'sent' | 'stepOpen'>): boolean {
  if (settled.ok || sent !== 'nothing' || stepOpen) return false;
  const { error, fault } = settled;
  if (fault?.sent === 'no') return false;
  // A typed error that names no outcome is the author's word that a read failed.
  return error.outcome === 'unknown' || (error.outcome === undefined && fault !== undefined);
}

const verdict = (state: Verdict['state'], outcome: FailureOutcome, refund = false): Verdict => ({
  state,
  outcome,
  refund,
});

/** Not carried out, or not to its end: a re-issue starts anew, or goes on where it stopped. */
function stopped({ stepsDone }: RunEnd, outcome: FailureOutcome, refund = false): Verdict {
  return verdict(stepsDone > 0 ? 'claimed' : 'released', outcome, refund);
}

/** Only its answer was lost: everything that it had to do is done. */
function cameToItsEnd({ error }: SettledFailure, { stepsDone }: RunEnd): boolean {
  if (error.outcome !== 'executed') return false;
  // A tool's own error after some of its steps is a part, not an end.
  return stepsDone === 0 || LOST_ANSWERS.has(error.code);
}

const LOST_ANSWERS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'serialization_error',
  'response_too_large',
  'internal_error',
]);

function outcomeOf(
  { error, fault }: SettledFailure,
  effect: RunEnd['effect'],
): FailureOutcome | undefined {
  return error.outcome ?? (fault && outcomeOfFault(effect, fault));
}

/** Refused for reasons that pass or that an operator repairs: the same request may succeed then. */
export function saysNothingOfTheRequest(code: ErrorCode): boolean {
  return isRetryable(code) || CIRCUMSTANCES.has(code);
}

const CIRCUMSTANCES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  // credentials
  'unauthorized',
  'forbidden',
  'x_auth_expired',
  'x_forbidden',
  'x_account_restricted',
  // credits, limits, policy
  'x_credits_depleted',
  'policy_denied_rate_limited',
  'policy_denied_blocked',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
  'dry_run',
  // configuration
  'x_not_configured',
  'llm_not_configured',
  // the caller's own end
  'cancelled',
]);
