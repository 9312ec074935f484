import {
  faultToError as defaultReading,
  isRetryable,
  isToolError,
  type ToolError,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { faultToError } from '../faults.js';
import { memberOf } from '../json.js';
import { asFault } from './tool.js';

/** A failure inside an answer that is a success as a whole. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** What a thrown value says to the caller; undefined for what nobody foresaw. */
export function failureOf(thrown: unknown): Failure | undefined {
  const error = toolErrorOf(asFault(thrown));
  if (!error) return undefined;
  const { code, message } = error.input;
  return { code, message, retryable: isRetryable(code) };
}

function toolErrorOf(cause: unknown): ToolError | undefined {
  if (cause instanceof FaultError) return faultToError(cause.fault) ?? defaultReading(cause.fault);
  const raised = memberOf(cause, 'toolError');
  return isToolError(raised) ? raised : undefined;
}
