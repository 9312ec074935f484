import type { FailureOutcome } from '../codes/table.js';
import { isCodeName, isErrorCode, isRetryable, onlyOutcomeOf } from '../codes/registry.js';
import type { ErrorInput } from '../envelope/error.js';
import { ownMember } from '../json.js';
import { toolError } from '../tool/result.js';
import type { Tool } from '../tool/tool.js';
import type { SettledFailure } from './options.js';

// A fixed message, because a cause may contain a path, a query or a secret.
const INTERNAL_ERROR =
  'Internal error. The operator finds the cause in the server log under correlation_id.';

export function internalError(outcome?: FailureOutcome): SettledFailure {
  return { ok: false, error: toolError('internal_error', INTERNAL_ERROR, { outcome }).input };
}

/** After an unexpected error the outcome of a mutation is unknown. */
export function unexpectedFailure(tool: Pick<Tool, 'mutation'>): SettledFailure {
  return internalError(tool.mutation ? 'unknown' : undefined);
}

/** The handler completed, so a mutation was executed; only its result is lost. */
export function outcomeOfLostResult(tool: Pick<Tool, 'mutation'>): FailureOutcome | undefined {
  return tool.mutation ? 'executed' : undefined;
}

export function lostResult(tool: Pick<Tool, 'mutation'>): SettledFailure {
  return internalError(outcomeOfLostResult(tool));
}

/**
 * Adapts a failure to the tool's declaration: undeclared codes become `internal_error`, mutations get
 * an outcome, and a `once` tool with an unknown outcome never returns a retryable code.
 */
export function enforceDeclaredCode(
  tool: Tool,
  failure: SettledFailure,
  report: (cause: unknown) => void,
  /** Retryable codes that are safe to repeat although the outcome is unknown. */
  repeatable?: ReadonlySet<string>,
): SettledFailure {
  const { error } = failure;
  if (!mayReturn(tool, failure)) {
    report(new ContractViolation(tool.name, `returned ${error.code}, which it does not declare`));
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

/** A stored error is returned as it is, although the tool or its pack may have dropped the code since. */
function mayReturn(tool: Tool, { error, idempotency }: SettledFailure): boolean {
  if (tool.possibleCodes.includes(error.code)) return true;
  if (idempotency?.replayed === true) return isCodeName(error.code);
  return tool.errors === undefined && isErrorCode(error.code);
}

/** The message without a journal. With one, repeating the call is safe. */
export const UNKNOWN_WITHOUT_JOURNAL =
  'The call failed after it may have been executed. Do not repeat it before you have checked the upstream.';

function toOutcomeUnknown({ error, data }: SettledFailure): ErrorInput<'outcome_unknown'> {
  const { code, operationId, details } = error;
  const clock = ownMember(details, 'clock');
  const status = ownMember(details, 'status');
  return {
    code: 'outcome_unknown',
    // A failure with partial data has a message that says how to continue.
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

/** A tool violated its definition. Reported to `onUnexpected`, never shown to the caller. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
  readonly tool: string;

  constructor(tool: string, problem: string, options?: ErrorOptions) {
    super(`tool "${tool}" ${problem}`, options);
    this.tool = tool;
  }
}
