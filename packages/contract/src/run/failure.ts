import { type FailureOutcome, isRetryable, onlyOutcomeOf } from '../codes/table.js';
import type { ErrorInput } from '../envelope/error.js';
import { ownMember } from '../json.js';
import { toolError } from '../tool/result.js';
import type { Tool } from '../tool/tool.js';
import type { SettledFailure } from './options.js';

// The same words whatever happened: a cause may hold a path, a query or a secret.
const INTERNAL_ERROR =
  'The tool failed in a way that nobody foresaw. The operator finds the cause under correlation_id.';

export function internalError(outcome?: FailureOutcome): SettledFailure {
  return { ok: false, error: toolError('internal_error', INTERNAL_ERROR, { outcome }).input };
}

/** Nobody knows how far a mutation came when something broke that was not foreseen. */
export function unexpectedFailure(tool: Pick<Tool, 'mutation'>): SettledFailure {
  return internalError(tool.mutation ? 'unknown' : undefined);
}

/** The handler came to its end: what it had to do is done, only the answer is lost. */
export function outcomeOfLostResult(tool: Pick<Tool, 'mutation'>): FailureOutcome | undefined {
  return tool.mutation ? 'executed' : undefined;
}

export function lostResult(tool: Pick<Tool, 'mutation'>): SettledFailure {
  return internalError(outcomeOfLostResult(tool));
}

/**
 * A failure as this tool may answer it: with a code that it declares, with what is known of a
 * mutation, and never with the advice to repeat what may have happened already.
 */
export function enforceDeclaredCode(
  tool: Tool,
  failure: SettledFailure,
  report: (cause: unknown) => void,
  /** Codes that advise a repeat which is safe although the outcome is unknown. */
  repeatable?: ReadonlySet<string>,
): SettledFailure {
  const { error } = failure;
  if (!tool.possibleCodes.includes(error.code)) {
    report(
      new ContractViolation(tool.name, `answered with ${error.code}, which it does not declare`),
    );
    return { ...failure, error: internalError(error.outcome).error };
  }
  if (!tool.mutation) return { ...failure, error: { ...error, outcome: undefined } };
  const outcome = error.outcome ?? onlyOutcomeOf(error.code);
  const isAdvised = isRetryable(error.code) && !repeatable?.has(error.code);
  if (tool.effect === 'once' && outcome === 'unknown' && isAdvised) {
    return { ...failure, error: toOutcomeUnknown(failure) };
  }
  return { ...failure, error: { ...error, outcome } };
}

/** A journal, which does not send an act twice, gives other advice. */
export const UNKNOWN_WITHOUT_JOURNAL =
  'The call failed after it may have been carried out. Do not repeat it: look whether it happened.';

function toOutcomeUnknown({ error, data }: SettledFailure): ErrorInput<'outcome_unknown'> {
  const { code, operationId, details } = error;
  const clock = ownMember(details, 'clock');
  const status = ownMember(details, 'status');
  return {
    code: 'outcome_unknown',
    // Who gives what was achieved knows how to go on with the rest, and has said it there too.
    message: data === undefined || data === null ? UNKNOWN_WITHOUT_JOURNAL : error.message,
    operationId,
    outcome: 'unknown',
    details: {
      cause_code: code,
      ...(typeof clock === 'string' && { clock }),
      ...(typeof status === 'number' && { status }),
    },
  };
}

/** A tool that broke its own contract. Reported to `onUnexpected`, never shown to the caller. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
  readonly tool: string;

  constructor(tool: string, problem: string, options?: ErrorOptions) {
    super(`tool "${tool}" ${problem}`, options);
    this.tool = tool;
  }
}
