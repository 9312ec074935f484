import type { ErrorCode } from '../codes/table.js';
import {
  assertField,
  assertRegistered,
  createErrorBody,
  type ErrorBody,
  type ErrorInput,
} from './error.js';
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
  /** Null, or the partial result of a tool that declares `partial`. */
  readonly data: Partial | null;
  readonly error: ErrorBody<Code>;
  readonly meta: Meta;
}

/** The result of every tool call. */
export type Envelope<Data = unknown, Code extends ErrorCode = ErrorCode, Partial = unknown> =
  | SuccessEnvelope<Data>
  | ErrorEnvelope<Code, Partial>;

/** Throws an InconsistentEnvelopeError for values that `envelopeSchema` or JSON does not allow. */
export function successEnvelope<Data>(data: Data, meta: MetaInput): SuccessEnvelope<Data> {
  assertJson(data);
  return uncheckedSuccess(data, meta);
}

/** Throws an InconsistentEnvelopeError for values that `envelopeSchema` or JSON does not allow. */
export function errorEnvelope<Code extends ErrorCode, Partial = null>(
  error: ErrorInput<Code>,
  meta: MetaInput,
  partial: Partial | null = null,
): ErrorEnvelope<Code, Partial> {
  assertRegistered(error);
  assertJson(partial);
  return uncheckedError(error, meta, partial);
}

/** For data that has been validated as JSON, which avoids a second traversal. */
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
  assertField(problem === undefined, 'data', `must be JSON, and contains ${problem}`);
}

function jsonProblem(data: unknown): string | undefined {
  try {
    return findJsonFlaw(data)?.problem;
  } catch {
    return 'a value that cannot be read';
  }
}
