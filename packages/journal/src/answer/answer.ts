import {
  faultOf,
  faultToError,
  isErrorCode,
  onlyOutcomeOf,
  outcomeOfFault,
  raisedToolError,
  toolError,
  UNKNOWN_WITHOUT_JOURNAL,
  type ErrorCode,
  type ErrorInput,
  type FailureOutcome,
  type Settled,
  type SettledFailure,
  type Tool,
} from '@toolkeel/contract';
import type { Fault } from '@toolkeel/kernel';
import { UNKNOWN } from './errors.js';

export function codeOf(answer: Settled): ErrorCode | 'ok' {
  return answer.ok ? 'ok' : answer.error.code;
}

/** Adds the operation id to a failure that names none. */
export function withOperation<T extends Settled>(settled: T, operationId: string): T {
  if (settled.ok || settled.error.operationId !== undefined) return settled;
  return { ...settled, error: { ...settled.error, operationId } };
}

/** Removes the operation id, for an operation that is not kept. */
export function withoutOperation(settled: Settled): Settled {
  if (settled.ok) return settled;
  const { operationId: _, ...error } = settled.error;
  return { ...settled, error };
}

/**
 * Replaces the journal-less advice of an `outcome_unknown` error: without a journal a repeat is
 * dangerous, with one it is safe.
 */
export function withAdvice(failure: SettledFailure): SettledFailure {
  const { error, data } = failure;
  const hasPartialData = data !== undefined && data !== null;
  if (error.code !== 'outcome_unknown' || hasPartialData || error.message.includes(UNKNOWN)) {
    return failure;
  }
  const isDefault = error.message === UNKNOWN_WITHOUT_JOURNAL;
  const message = isDefault ? UNKNOWN : `${error.message} ${UNKNOWN}`;
  return { ...failure, error: { ...error, message } };
}

const FAILED_BEFORE_SEND = 'Failed before anything was sent.';

/**
 * Marks a failure as not executed. A `once` tool that failed in a read before its write reports
 * `outcome_unknown`; this restores the original error.
 */
export function asNotExecuted(tool: Tool, failure: SettledFailure): SettledFailure {
  const { error, fault } = failure;
  const outcome = 'not_executed';
  if (error.code !== 'outcome_unknown') return { ...failure, error: { ...error, outcome } };
  if (fault) return { ...failure, error: { ...errorOfFault(tool, fault), outcome } };
  const cause = (error as ErrorInput<'outcome_unknown'>).details?.cause_code;
  const code = isErrorCode(cause) && cause !== 'outcome_unknown' ? cause : 'internal_error';
  return { ...failure, error: { code, message: FAILED_BEFORE_SEND, outcome } };
}

/** The tool's error for an exceeded deadline. */
export function deadlineExceeded(tool: Tool, sent: 'no' | 'maybe'): SettledFailure {
  const fault: Fault = { kind: 'timeout', clock: 'deadline', sent };
  const outcome = sent === 'no' ? 'not_executed' : 'unknown';
  return { ok: false, error: { ...errorOfFault(tool, fault), outcome }, fault };
}

/** The tool's error for a cause that was thrown before the send was recorded. */
export function failureBeforeSend(tool: Tool, cause: unknown): SettledFailure {
  const raised = raisedToolError(cause);
  if (raised) return { ok: false, error: raised.input };
  const fault = faultOf(cause);
  if (fault) {
    return { ok: false, error: { ...errorOfFault(tool, fault), outcome: 'not_executed' }, fault };
  }
  return { ok: false, error: toolError('internal_error', FAILED_BEFORE_SEND).input };
}

/** What a cause that was thrown after the send proves about the outcome. */
export function outcomeOfThrown(cause: unknown): FailureOutcome {
  const raised = raisedToolError(cause);
  if (raised) return raised.input.outcome ?? onlyOutcomeOf(raised.input.code) ?? 'unknown';
  const fault = faultOf(cause);
  return (fault && outcomeOfFault('once', fault)) ?? 'unknown';
}

function errorOfFault(tool: Tool, given: Fault): ErrorInput {
  const fault: Fault = { ...given, sent: 'no' };
  const error = tool.faultToError?.(fault) ?? faultToError(fault);
  return error?.input ?? { code: 'internal_error', message: FAILED_BEFORE_SEND };
}

/** Far above the byte budget of an answer. */
const MAX_STORED_BYTES = 1024 * 1024;

const TOO_LARGE =
  'The operation was executed, but its answer was too large to return or store. Do not repeat it: check the result at the upstream.';

export interface StoredAnswer {
  readonly settled: Settled;
  /** When the handler ended, in Unix milliseconds. */
  readonly endedAt: number | undefined;
}

/** Serializes an answer for replays, without the parts that are only valid during the call. */
export function writeAnswer(settled: Settled, endedAt?: number): string {
  const text = JSON.stringify({ ...lastingPart(settled), endedAt });
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_STORED_BYTES) return text;
  const short = settled.ok ? tooLarge(bytes) : lastingPart({ ...settled, data: null });
  return JSON.stringify({ ...short, endedAt });
}

/** Undefined for an unreadable answer: the operation keeps its state and has no answer then. */
export function readAnswer(text: string | undefined): StoredAnswer | undefined {
  if (text === undefined) return undefined;
  try {
    const { endedAt, ...settled } = JSON.parse(text) as Settled & { endedAt?: unknown };
    if (!isSettled(settled)) return undefined;
    return { settled, endedAt: typeof endedAt === 'number' ? endedAt : undefined };
  } catch {
    return undefined;
  }
}

function lastingPart(settled: Settled): Settled {
  if (settled.ok) {
    const { data, paging, rateLimit } = settled;
    return { ok: true, data, rateLimit, ...(paging && { paging: { next: paging.next } }) };
  }
  const { error, data, rateLimit } = settled;
  return { ok: false, error, data, rateLimit };
}

/** The same code that the first caller got: the answer exceeds the byte budget too. */
function tooLarge(bytes: number): SettledFailure {
  const details = { bytes, budget: MAX_STORED_BYTES };
  const error = toolError('response_too_large', TOO_LARGE, { outcome: 'executed', details });
  return { ok: false, error: error.input };
}

function isSettled(value: unknown): value is Settled {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false;
  if (value.ok === true) return 'data' in value;
  return value.ok === false && 'error' in value && typeof value.error === 'object';
}
