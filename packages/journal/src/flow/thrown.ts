import {
  faultOf,
  outcomeOfFault,
  raise,
  raisedToolError,
  toolError,
  type FailureOutcome,
  type SettledFailure,
  type Tool,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { unsentFault } from '../answer/known.js';
import { journalDown } from '../answer/refusals.js';

/** What a step that was sent and then threw lets us say. */
export function outcomeOfThrown(cause: unknown): FailureOutcome {
  const raised = raisedToolError(cause);
  if (raised) return raised.input.outcome ?? 'unknown';
  const fault = faultOf(cause);
  return (fault && outcomeOfFault('once', fault)) ?? 'unknown';
}

/** Why an operation was not sent, as the tool itself would say it. */
export function unsentFailure(tool: Tool, cause: unknown): SettledFailure {
  const raised = raisedToolError(cause);
  if (raised) return { ok: false, error: raised.input };
  const fault = faultOf(cause);
  if (fault) return unsentFault(tool, fault);
  const { input } = toolError('internal_error', 'It failed before anything was sent.');
  return { ok: false, error: input };
}

/** What a handler gets in place of the right to send. It ends the call, and nothing has left. */
export const refuse = {
  outOfTime: (): never => {
    throw new FaultError({ kind: 'timeout', clock: 'deadline', sent: 'no' });
  },
  cancelled: (cause: unknown): never => {
    throw new FaultError({ kind: 'cancelled', sent: 'no', cause });
  },
  lost: (): never =>
    raise(
      toolError(
        'db_error',
        'This process was silent for so long that the operation was taken from it. It sent nothing. Try again.',
        { outcome: 'not_executed' },
      ),
    ),
  unresolved: (step: string): never =>
    raise(
      toolError(
        'outcome_unknown',
        `Nobody knows yet whether the step ${step} happened. It will not be sent again, and nothing after it. Call again later, or ask the operator to settle it.`,
        { outcome: 'unknown' },
      ),
    ),
  unusable: (step: string): never =>
    raise(
      toolError(
        'serialization_error',
        `What the step ${step} gave is not written down as this tool does it, so nothing is sent after it. Ask the operator to settle the operation.`,
      ),
    ),
  unwritten: (): never =>
    raise(
      toolError(
        'db_error',
        'The journal cannot be written, so the operation does not go on. Call again later with the same arguments: it goes on where it stopped.',
      ),
    ),
  sentAlready: (): never =>
    raise(
      toolError(
        'internal_error',
        'The tool tried to send its request a second time, which was prevented. The operator finds the cause under correlation_id.',
        { outcome: 'unknown' },
      ),
    ),
  needsExplicit: (): never => {
    throw new TypeError("operation.step needs a tool that is defined with send: 'explicit'");
  },
  journalDown: (outcome: 'not_executed' | 'unknown', cause?: unknown): never =>
    raise(journalDown(outcome, cause)),
};
