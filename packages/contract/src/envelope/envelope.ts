import type { ErrorCode } from '../codes/table.js';
import { createErrorBody, type ErrorBody, type ErrorInput } from './error.js';
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

export function successEnvelope<Data>(data: Data, meta: MetaInput): SuccessEnvelope<Data> {
  return Object.freeze({ success: true, data, meta: createMeta(meta) });
}

export function errorEnvelope<Code extends ErrorCode, Partial = null>(
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
