import {
  isRecoverable,
  isRetryable,
  outcomeOfFault,
  type BuiltInCode,
  type ErrorCode,
  type FailureOutcome,
  type Settled,
  type SettledFailure,
  type Tool,
} from '@toolkeel/contract';
import { asNotExecuted, withAdvice, withOperation } from '../answer/answer.js';
import { unknownOutcome } from '../answer/errors.js';
import type { Operation } from '../operation.js';
import type { ReadBackResult } from '../reconcile/read-back.js';
import { provesAbsenceAtOnce } from '../reconcile/absence.js';

/** How a handler ended, and what the journal observed. */
export interface HandlerEnd {
  readonly settled: Settled;
  readonly effect: Operation['effect'];
  /** What was sent. `step`: only steps, and the last one was definitely not executed. */
  readonly sent: 'nothing' | 'step' | 'operation';
  /** Completed steps, including those of earlier runs. */
  readonly stepsDone: number;
  /** A step was sent, and its outcome is unknown. */
  readonly stepOpen: boolean;
}

export interface RunOutcome {
  readonly state: 'succeeded' | 'rejected' | 'unknown' | 'released' | 'claimed';
  readonly outcome: FailureOutcome;
  /** Nothing was sent, so the policy limits are refunded. */
  readonly refund: boolean;
}

/** Decides the next state of an operation from the end of its handler. Pure. */
export function decideOutcome(end: HandlerEnd): RunOutcome {
  const { settled, sent, stepOpen, effect } = end;
  // An open step outweighs whatever the handler returned.
  if (stepOpen && effect === 'once') return runOutcome('unknown', 'unknown');
  if (settled.ok) return runOutcome('succeeded', 'executed');
  if (stepOpen) return incomplete(end, 'unknown');
  if (lostOnlyItsAnswer(settled, end)) return runOutcome('succeeded', 'executed');
  if (isUnrecordedSend(end)) {
    return effect === 'once' ? runOutcome('unknown', 'unknown') : incomplete(end, 'unknown');
  }
  if (sent === 'nothing') return incomplete(end, 'not_executed', end.stepsDone === 0);

  const stated = settled.error.outcome ?? (settled.fault && outcomeOfFault(effect, settled.fault));
  // The handler did not know, but the read-back of the step proved its absence.
  if (sent === 'step' && stated === 'unknown') return incomplete(end, 'not_executed');
  // After a send, an error that states no outcome proves nothing.
  const outcome = sent === 'step' ? 'not_executed' : (stated ?? 'unknown');
  if (outcome === 'executed') return runOutcome('succeeded', 'executed');
  if (outcome === 'unknown') {
    // Repeating an idempotent act is safe, so its outcome need not be established.
    return effect === 'once' ? runOutcome('unknown', 'unknown') : incomplete(end, 'unknown');
  }
  const { error, fault } = settled;
  const isPartial = sent === 'step' && end.stepsDone > 0;
  if (!isPartial && !isRecoverable(error.code)) return runOutcome('rejected', outcome);
  return incomplete(end, outcome, fault?.sent === 'no' && end.stepsDone === 0);
}

/**
 * Whether a tool in explicit mode failed without calling `operation.send`, in a way that does not prove
 * that nothing was sent: its client may have been used outside of `operation.send`.
 */
export function isUnrecordedSend({
  settled,
  sent,
  stepOpen,
}: Pick<HandlerEnd, 'settled' | 'sent' | 'stepOpen'>): boolean {
  if (settled.ok || sent !== 'nothing' || stepOpen) return false;
  const { error, fault } = settled;
  if (fault?.sent === 'no') return false;
  // A typed error without an outcome is the tool author's statement that a read failed.
  return error.outcome === 'unknown' || (error.outcome === undefined && fault !== undefined);
}

const runOutcome = (
  state: RunOutcome['state'],
  outcome: FailureOutcome,
  refund = false,
): RunOutcome => ({ state, outcome, refund });

/** Not executed, or not completely: a repeat starts over, or resumes after the completed steps. */
function incomplete(
  { stepsDone }: HandlerEnd,
  outcome: FailureOutcome,
  refund = false,
): RunOutcome {
  return runOutcome(stepsDone > 0 ? 'claimed' : 'released', outcome, refund);
}

function lostOnlyItsAnswer({ error }: SettledFailure, { stepsDone }: HandlerEnd): boolean {
  if (error.outcome !== 'executed') return false;
  // A tool's own error after some of its steps means a partial execution.
  return stepsDone === 0 || LOST_ANSWERS.has(error.code);
}

const LOST_ANSWERS: ReadonlySet<ErrorCode> = new Set<BuiltInCode>([
  'serialization_error',
  'response_too_large',
  'internal_error',
]);

/** The outcome that is recorded, and the caller's answer. */
export interface EstablishedOutcome extends RunOutcome {
  readonly answer: Settled;
}

interface OutcomeInput extends HandlerEnd {
  readonly tool: Tool;
  readonly operationId: string;
  /** Called only for an unknown outcome. */
  readonly readBack: () => Promise<ReadBackResult>;
}

/** Decides the outcome of a run; reads back if it is unknown. */
export async function establishOutcome(input: OutcomeInput): Promise<EstablishedOutcome> {
  const { settled, tool, operationId } = input;
  const decided = decideOutcome(input);
  const answer = withOperation(answerFor(decided, input), operationId);
  const established = { ...decided, answer };
  if (decided.state !== 'unknown' || input.stepOpen || !tool.reconcile) return established;

  const result = await input.readBack();
  if (result.kind === 'executed') {
    return { state: 'succeeded', outcome: 'executed', refund: false, answer: result.settled };
  }
  const isAbsent = result.kind === 'absent' && provesAbsenceAtOnce(tool.reconcile);
  if (!isAbsent || settled.ok) return established;
  return {
    state: input.stepsDone > 0 ? 'claimed' : 'released',
    outcome: 'not_executed',
    refund: false,
    answer: withOperation(asNotExecuted(tool, settled), operationId),
  };
}

function answerFor(
  { state, outcome }: RunOutcome,
  { settled, tool, stepsDone, operationId }: OutcomeInput,
): Settled {
  if (settled.ok) return state === 'unknown' ? unknownOutcome(operationId) : settled;
  if (outcome === 'executed') return settled;
  if (outcome === 'unknown') return asUnknown(settled, operationId, tool);
  // After completed steps, `not_executed` would be wrong for the operation as a whole.
  return stepsDone > 0 ? asPartial(tool, settled) : asNotExecuted(tool, settled);
}

function asUnknown(settled: SettledFailure, operationId: string, tool: Tool): SettledFailure {
  const { error } = settled;
  const mayBeUnknown = error.outcome === 'unknown' || error.outcome === undefined;
  const namesCause = error.code !== 'internal_error' && !isRetryable(error.code);
  if (mayBeUnknown && (tool.effect !== 'once' || namesCause)) {
    return withAdvice({ ...settled, error: { ...error, outcome: 'unknown' } });
  }
  return { ...settled, error: unknownOutcome(operationId, error.code).error };
}

/** Some steps are done and the next was not executed: the tool's own message tells how far it came. */
function asPartial(tool: Tool, settled: SettledFailure): SettledFailure {
  if (settled.error.outcome !== 'unknown') return settled;
  const { outcome: _wrong, ...error } = asNotExecuted(tool, settled).error;
  return { ...settled, error };
}
