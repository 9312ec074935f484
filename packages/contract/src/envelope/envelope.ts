import type { ErrorCode } from '../codes/table.js';
import { createErrorBody, assertField, type ErrorBody, type ErrorInput } from './error.js';
import { findJsonFlaw } from '../json.js';
import { createMeta, type Meta, type MetaInput } from './meta.js';

export interface SuccessEnvelope<Data = unknown> {
  readonly success: true;
  readonly data: Data;
  readonly error?: never;
  readonly meta: Meta;
}

export interface ErrorEnvelope<Code extends ErrorCode = ErrorCode, Partial = null> {
  readonly success: false;
  /** Null, unless the tool says that it can answer in part. */
  readonly data: Partial | null;
  readonly error: ErrorBody<Code>;
  readonly meta: Meta;
}

/** What every tool answers. */
export type Envelope<Data = unknown, Code extends ErrorCode = ErrorCode, Partial = unknown> =
  | SuccessEnvelope<Data>
  | ErrorEnvelope<Code, Partial>;

/** Throws an InconsistentEnvelopeError for what `envelopeSchema` or JSON would refuse. */
export function successEnvelope<Data>(data: Data, meta: MetaInput): SuccessEnvelope<Data> {
  assertJson(data);
  return uncheckedSuccess(data, meta);
}

/** Throws an InconsistentEnvelopeError for what `envelopeSchema` or JSON would refuse. */
export function errorEnvelope<Code extends ErrorCode, Partial = null>(
  error: ErrorInput<Code>,
  meta: MetaInput,
  partial: Partial | null = null,
): ErrorEnvelope<Code, Partial> {
  assertJson(partial);
  return uncheckedError(error, meta, partial);
}

/** For data that is known to be JSON: a walk through all of it is not made twice. */
export function uncheckedSuccess<Data>(data: Data, meta: MetaInput): SuccessEnvelope<Data> {
  return Object.freeze({ success: true, data, meta: createMeta(meta) });
}

export function uncheckedError<Code extends ErrorCode, Partial = null>(
  error: ErrorInput<Code>,
  meta: MetaInput,
  partial: Partial | null = null,
): ErrorEnvelope<Code, Partial> {
  return Object.freeze({
    success: false,
    data: partial,
    error: createErrorBody(error),
    meta: createMeta(meta),
  });
}

function assertJson(data: unknown): void {
  const problem = jsonProblem(data);
  assertField(problem === undefined, 'data', `must be JSON, and holds ${problem}`);
}

function jsonProblem(data: unknown): string | undefined {
  try {
    return findJsonFlaw(data)?.problem;
  } catch {
    return 'something that cannot be read';
  }
}
