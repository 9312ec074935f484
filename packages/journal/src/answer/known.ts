import {
  faultToError,
  isErrorCode,
  UNKNOWN_WITHOUT_JOURNAL,
  type ErrorInput,
  type Settled,
  type SettledFailure,
  type Tool,
} from '@toolkeel/contract';
import type { Fault } from '@toolkeel/kernel';
import { UNKNOWN } from './refusals.js';

/**
 * A failure of which we know more than its handler: nothing was carried out. A `once` tool that
 * failed in a read before its write was made to say `outcome_unknown`; the first reason comes back.
 */
export function asNotExecuted(tool: Tool, failure: SettledFailure): SettledFailure {
  const { error, fault } = failure;
  const outcome = 'not_executed';
  if (error.code !== 'outcome_unknown') {
    return { ...failure, error: { ...error, outcome } };
  }
  if (fault) return { ...failure, error: { ...faultError(tool, fault), outcome } };
  const cause = (error as ErrorInput<'outcome_unknown'>).details?.cause_code;
  const code = isErrorCode(cause) && cause !== 'outcome_unknown' ? cause : 'internal_error';
  const message = 'It failed before anything was sent.';
  return { ...failure, error: { code, message, outcome } };
}

/** How this tool says that a fault ended it before anything was sent. */
export function unsentFault(tool: Tool, fault: Fault): SettledFailure {
  return { ok: false, error: { ...faultError(tool, fault), outcome: 'not_executed' }, fault };
}

/** How this tool says that time ran out. */
export function outOfTime(tool: Tool, sent: 'no' | 'maybe'): SettledFailure {
  const fault: Fault = { kind: 'timeout', clock: 'deadline', sent };
  const outcome = sent === 'no' ? 'not_executed' : 'unknown';
  return { ok: false, error: { ...faultError(tool, fault), outcome }, fault };
}

function faultError(tool: Tool, given: Fault): ErrorInput {
  const fault: Fault = { ...given, sent: 'no' };
  const read = tool.faultToError?.(fault) ?? faultToError(fault);
  return read?.input ?? { code: 'internal_error', message: 'It failed before anything was sent.' };
}

/**
 * What a tool or the contract says of an unknown outcome without a journal warns of the repeat that is
 * harmless with one.
 */
export function withAdvice(failure: SettledFailure): SettledFailure {
  const { error, data } = failure;
  const hasPart = data !== undefined && data !== null;
  if (error.code !== 'outcome_unknown' || hasPart || error.message.includes(UNKNOWN)) {
    return failure;
  }
  const isDefault = error.message === UNKNOWN_WITHOUT_JOURNAL;
  const message = isDefault ? UNKNOWN : `${error.message} ${UNKNOWN}`;
  return { ...failure, error: { ...error, message } };
}

/** Of an operation that is not kept. */
export function withoutOperation(settled: Settled): Settled {
  if (settled.ok) return settled;
  const { operationId: _, ...error } = settled.error;
  return { ...settled, error };
}

/** Every failure says which operation it speaks of. */
export function withOperation<T extends Settled>(settled: T, operationId: string): T {
  if (settled.ok || settled.error.operationId !== undefined) return settled;
  return { ...settled, error: { ...settled.error, operationId } };
}
