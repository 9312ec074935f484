import { classOf } from '../codes/registry.js';
import type { ErrorCode, FailureClass } from '../codes/table.js';
import type { ErrorEnvelope } from './envelope.js';

/** The `_meta` key of the open MCP proposal on tool failures. */
export const TOOL_FAILURE_KEY = 'io.modelcontextprotocol/toolFailure';

export interface ToolFailure {
  readonly class: FailureClass;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  /** ISO 8601; only if the code is retryable and the time is known. */
  readonly retryNotBefore?: string;
  readonly correlationId: string;
}

/** Converts an error envelope to the proposal's format. `now` is in epoch milliseconds. */
export function toolFailure(
  { error, meta }: Pick<ErrorEnvelope<ErrorCode, unknown>, 'error' | 'meta'>,
  now: number,
): ToolFailure {
  const notBefore = error.retryable ? retryNotBefore(error, now) : undefined;
  return Object.freeze({
    class: classOf(error.code),
    code: error.code,
    retryable: error.retryable,
    ...(notBefore !== undefined && { retryNotBefore: notBefore }),
    correlationId: meta.correlation_id,
  });
}

// The delay that the upstream asked for takes precedence over a window's reset.
function retryNotBefore(error: ErrorEnvelope['error'], now: number): string | undefined {
  const { retry_after_ms: wait, rate_limit_reset: reset } = error;
  if (wait === undefined) return reset;
  const moment = new Date(now + wait);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
