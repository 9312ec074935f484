import {
  onlyOutcomeOf,
  policyDecisionOf,
  type FailureOutcome,
  type OutcomeOf,
  type PolicyDecision,
} from '../codes/consistency.js';
import { detailSchemaOf, type DetailsOf } from '../codes/details.js';
import { isErrorCode, isRetryable, type ErrorCode, type RetryableOf } from '../codes/table.js';
import { clip } from '../text.js';

/** `error` as it stands in an envelope. */
export interface ErrorBody<Code extends ErrorCode = ErrorCode> {
  readonly code: Code;
  readonly message: string;
  readonly retryable: RetryableOf<Code>;
  readonly retry_after_ms?: number;
  readonly rate_limit_reset?: string;
  readonly policy_decision?: PolicyDecision;
  readonly outcome?: FailureOutcome;
  readonly operation_id?: string;
  readonly details?: DetailsOf<Code>;
}

/** What a caller may say about an error. `retryable` and `policy_decision` follow from the code. */
export interface ErrorInput<Code extends ErrorCode = ErrorCode> {
  readonly code: Code;
  /** For a person: what went wrong, what to do. */
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /** When the limit is lifted; ISO 8601 if it is a text. */
  readonly rateLimitReset?: Date | string | undefined;
  readonly outcome?: OutcomeOf<Code> | undefined;
  readonly operationId?: string | undefined;
  readonly details?: DetailsOf<Code> | undefined;
}

/** An error that contradicts itself or its code. */
export class InconsistentErrorError extends TypeError {
  override readonly name = 'InconsistentErrorError';
}

const MAX_MESSAGE = 2000;

export function createErrorBody<Code extends ErrorCode>(input: ErrorInput<Code>): ErrorBody<Code> {
  const { code, retryAfterMs, rateLimitReset, operationId } = input;
  if (!isErrorCode(code)) throw new InconsistentErrorError(`unknown error code ${String(code)}`);
  const message = checkMessage(code, input.message);
  const decision = policyDecisionOf(code);
  const outcome = checkOutcome(code, input.outcome);
  const details = checkDetails(code, input.details);
  return Object.freeze({
    code,
    message,
    retryable: isRetryable(code),
    ...(retryAfterMs !== undefined && { retry_after_ms: checkWait(code, retryAfterMs) }),
    ...(rateLimitReset !== undefined && { rate_limit_reset: checkMoment(code, rateLimitReset) }),
    ...(decision && { policy_decision: decision }),
    ...(outcome && { outcome }),
    ...(operationId !== undefined && { operation_id: operationId }),
    ...(details && { details }),
  });
}

function checkMessage(code: ErrorCode, message: unknown): string {
  if (typeof message !== 'string' || message.trim() === '') {
    throw new InconsistentErrorError(`${code}: an error needs a message`);
  }
  return clip(message, MAX_MESSAGE);
}

function checkOutcome(code: ErrorCode, given: FailureOutcome | undefined) {
  const only = onlyOutcomeOf(code);
  if (given !== undefined && only !== undefined && given !== only) {
    throw new InconsistentErrorError(`${code}: the outcome is ${only}, not ${given}`);
  }
  // An unknown outcome is the whole point of its code; elsewhere silence is allowed.
  return given ?? (only === 'unknown' ? only : undefined);
}

function checkDetails<Code extends ErrorCode>(
  code: Code,
  details: DetailsOf<Code> | undefined,
): DetailsOf<Code> | undefined {
  if (details === undefined) return undefined;
  const schema = detailSchemaOf(code);
  if (!schema) throw new InconsistentErrorError(`${code}: this code carries no details`);
  const parsed = schema.safeParse(details);
  if (parsed.success) return parsed.data as DetailsOf<Code>;
  const where = ['details', ...(parsed.error.issues[0]?.path ?? [])].join('.');
  throw new InconsistentErrorError(`${code}: what stands at ${where} does not match`);
}

function checkWait(code: ErrorCode, ms: number): number {
  const whole = Math.ceil(ms);
  if (!(Number.isSafeInteger(whole) && whole >= 0)) {
    throw new InconsistentErrorError(`${code}: retryAfterMs must be finite and not negative`);
  }
  return whole;
}

function checkMoment(code: ErrorCode, moment: Date | string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) {
    throw new InconsistentErrorError(`${code}: rateLimitReset is not a date`);
  }
  return date.toISOString();
}
