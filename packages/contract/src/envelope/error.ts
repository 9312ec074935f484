import type {
  ErrorCode,
  FailureOutcome,
  OutcomeOf,
  PolicyDecision,
  RetryableOf,
} from '../codes/table.js';
import {
  isCodeName,
  isErrorCode,
  isRetryable,
  onlyOutcomeOf,
  policyDecisionOf,
} from '../codes/registry.js';
import { detailSchemaOf, type DetailsOf } from '../codes/details.js';
import { clip, wellFormed } from '../json.js';

/** The `error` of an envelope. */
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

/** The input for an error body. `retryable` and `policy_decision` follow from the code. */
export interface ErrorInput<Code extends ErrorCode = ErrorCode> {
  readonly code: Code;
  /** What failed, why, and what to do. */
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /** Reset of the rate limit; a string must be ISO 8601. */
  readonly rateLimitReset?: Date | string | undefined;
  readonly outcome?: OutcomeOf<Code> | undefined;
  readonly operationId?: string | undefined;
  readonly details?: DetailsOf<Code> | undefined;
}

/** A value that the envelope's schema does not allow. */
export class InconsistentEnvelopeError extends TypeError {
  override readonly name: string = 'InconsistentEnvelopeError';
}

/** Throws unless the condition holds. The message never contains the value. */
export function assertField(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InconsistentEnvelopeError(`${field} ${problem}`);
}

/** Formats a time as ISO 8601 in UTC; undefined if it is invalid or its year has more than four digits. */
export function isoTime(given: unknown): string | undefined {
  if (typeof given !== 'string' && !(given instanceof Date)) return undefined;
  const date = new Date(given);
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString();
  return /^\d{4}-/.test(text) ? text : undefined;
}

/** An error body that contradicts its code. */
export class InconsistentErrorError extends InconsistentEnvelopeError {
  override readonly name = 'InconsistentErrorError';
}

const MAX_MESSAGE = 2000;
const OUTCOMES: ReadonlySet<unknown> = new Set<FailureOutcome>([
  'executed',
  'not_executed',
  'unknown',
]);

/** Throws for an error whose code is neither defined by the contract nor registered. */
export function assertRegistered(input: ErrorInput): void {
  const code: unknown = input?.code;
  if (code !== undefined && !isErrorCode(code))
    throw new InconsistentErrorError(`unknown error code ${named(code)}`);
}

/** Accepts codes that are not registered, because a stored error may outlive its pack. */
export function createErrorBody<Code extends ErrorCode>(input: ErrorInput<Code>): ErrorBody<Code> {
  if (typeof input !== 'object' || input === null) {
    throw new InconsistentErrorError('an error must be an object');
  }
  const { code, retryAfterMs, rateLimitReset, operationId } = input;
  if (!isCodeName(code)) throw new InconsistentErrorError(`unknown error code ${named(code)}`);
  const message = checkMessage(code, input.message);
  const decision = policyDecisionOf(code);
  const outcome = checkOutcome(code, input.outcome);
  const details = checkDetails(code, input.details);
  return Object.freeze({
    code,
    message,
    // The type follows from the same table.
    retryable: isRetryable(code) as RetryableOf<Code>,
    ...(retryAfterMs !== undefined && { retry_after_ms: checkWait(code, retryAfterMs) }),
    ...(rateLimitReset !== undefined && { rate_limit_reset: checkTime(code, rateLimitReset) }),
    ...(decision && { policy_decision: decision }),
    ...(outcome && { outcome }),
    ...(operationId !== undefined && { operation_id: checkId(code, operationId) }),
    ...(details && { details }),
  });
}

function checkMessage(code: ErrorCode, message: unknown): string {
  if (typeof message !== 'string' || message.trim() === '') {
    throw new InconsistentErrorError(`${code}: an error needs a message`);
  }
  return clip(wellFormed(message), MAX_MESSAGE);
}

/** A description of an invalid code. */
function named(code: unknown): string {
  return typeof code === 'string' ? clip(code, 64) : `of type ${typeof code}`;
}

function checkOutcome(code: ErrorCode, given: FailureOutcome | undefined) {
  if (given !== undefined && !OUTCOMES.has(given)) {
    throw new InconsistentErrorError(`${code}: outcome must be executed, not_executed or unknown`);
  }
  const only = onlyOutcomeOf(code);
  if (given !== undefined && only !== undefined && given !== only) {
    throw new InconsistentErrorError(`${code}: the outcome is ${only}, not ${given}`);
  }
  // Only `outcome_unknown` implies its outcome; elsewhere it may be omitted.
  return given ?? (only === 'unknown' ? only : undefined);
}

function checkDetails<Code extends ErrorCode>(
  code: Code,
  details: DetailsOf<Code> | undefined,
): DetailsOf<Code> | undefined {
  if (details === undefined) return undefined;
  const schema = detailSchemaOf(code);
  if (!schema) throw new InconsistentErrorError(`${code}: this code has no details`);
  const parsed = schema.safeParse(details);
  // zod has copied the data, so the caller's object is not frozen.
  if (parsed.success) return deepFreeze(parsed.data) as DetailsOf<Code>;
  const where = ['details', ...(parsed.error.issues[0]?.path ?? [])].join('.');
  throw new InconsistentErrorError(`${code}: ${where} is invalid`);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

function checkWait(code: ErrorCode, ms: unknown): number {
  const whole = typeof ms === 'number' && ms >= 0 ? Math.ceil(ms) : Number.NaN;
  if (!Number.isSafeInteger(whole)) {
    throw new InconsistentErrorError(`${code}: retryAfterMs must be finite and not negative`);
  }
  return whole;
}

function checkTime(code: ErrorCode, given: unknown): string {
  const time = isoTime(given);
  if (time === undefined) {
    throw new InconsistentErrorError(`${code}: rateLimitReset is not a date`);
  }
  return time;
}

function checkId(code: ErrorCode, id: unknown): string {
  if (typeof id !== 'string') {
    throw new InconsistentErrorError(`${code}: operationId must be a string`);
  }
  return id;
}
