import { isRetryable, type Settled, type SettledFailure, type Tool } from '@toolkeel/contract';
import { asNotExecuted, withAdvice, withOperation } from '../answer/known.js';
import { unknownOutcome } from '../answer/refusals.js';
import type { Found } from '../reconcile/read-back.js';
import { settlementOf, type RunEnd, type Verdict } from './settlement.js';

/** What is written down, and what the caller is told. */
export interface Conclusion extends Verdict {
  readonly answer: Settled;
}

export interface Ending extends RunEnd {
  readonly tool: Tool;
  readonly operationId: string;
  /** Looks whether it happened; only asked where nobody knows. */
  readonly look: () => Promise<Found & { readonly proves?: boolean }>;
}

/** What the end of a handler means, after looking at the upstream where that can tell. */
export async function conclude(ending: Ending): Promise<Conclusion> {
  const { settled, tool, operationId } = ending;
  const verdict = settlementOf(ending);
  const told = { ...verdict, answer: withOperation(answerFor(verdict, ending), operationId) };
  if (verdict.state !== 'unknown' || ending.stepOpen || !tool.reconcile) return told;

  const found = await ending.look();
  if (found.kind === 'executed') {
    return { state: 'succeeded', outcome: 'executed', refund: false, answer: found.settled };
  }
  if (found.kind !== 'absent' || found.proves !== true || settled.ok) return told;
  const answer = withOperation(asNotExecuted(tool, settled), operationId);
  const state = ending.stepsDone > 0 ? 'claimed' : 'released';
  return { state, outcome: 'not_executed', refund: false, answer };
}

function answerFor(verdict: Verdict, { settled, tool, stepsDone, operationId }: Ending): Settled {
  const { state, outcome } = verdict;
  if (settled.ok) {
    return state === 'unknown' ? unknownOutcome(operationId) : settled;
  }
  if (outcome === 'executed') return settled;
  if (outcome === 'unknown') return asUnknown(settled, operationId, tool);
  // Of a longer operation it would be wrong to say that it was not carried out.
  return stepsDone > 0 ? asPart(tool, settled) : asNotExecuted(tool, settled);
}

function asUnknown(settled: SettledFailure, operationId: string, tool: Tool): SettledFailure {
  const { error } = settled;
  const saysSo = error.outcome === 'unknown' || error.outcome === undefined;
  const namesACause = error.code !== 'internal_error' && !isRetryable(error.code);
  if (saysSo && (tool.effect !== 'once' || namesACause)) {
    return withAdvice({ ...settled, error: { ...error, outcome: 'unknown' } });
  }
  return { ...settled, error: unknownOutcome(operationId, error.code).error };
}

/** Some steps are done, the next is not: the tool's own words say how far it came. */
function asPart(tool: Tool, settled: SettledFailure): SettledFailure {
  if (settled.error.outcome !== 'unknown') return settled;
  const { outcome: _wrong, ...error } = asNotExecuted(tool, settled).error;
  return { ...settled, error };
}
