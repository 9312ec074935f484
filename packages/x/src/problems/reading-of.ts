import {
  faultToError as defaultReading,
  isToolError,
  outcomeOfFault,
  type ToolError,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { faultToError } from '../faults.js';

/** What a caller would be told of something that was thrown; undefined where nobody foresaw it. */
export function readingOf(cause: unknown): ToolError | undefined {
  if (cause instanceof FaultError) return faultToError(cause.fault) ?? defaultReading(cause.fault);
  return raisedIn(cause);
}

/** Whether nobody knows if a post happened that ended with it. */
export function isUnknown(cause: unknown): boolean {
  if (cause instanceof FaultError) return outcomeOfFault('once', cause.fault) === 'unknown';
  return (raisedIn(cause)?.input.outcome ?? 'unknown') === 'unknown';
}

function raisedIn(cause: unknown): ToolError | undefined {
  const raised: unknown =
    typeof cause === 'object' && cause !== null && 'toolError' in cause
      ? cause.toolError
      : undefined;
  return isToolError(raised) ? raised : undefined;
}
