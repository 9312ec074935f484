import type { ErrorCode } from '../codes/table.js';
import type { ErrorEnvelope } from './envelope.js';

/** The `_meta` key of the open MCP proposal on tool failures. */
export const TOOL_FAILURE_KEY = 'io.modelcontextprotocol/toolFailure';

/**
 * `capability`: the request cannot be fulfilled as it is. `reliability`: a component failed or is busy.
 * `governance`: a permission or approval is missing.
 */
export type FailureClass = 'capability' | 'reliability' | 'governance';

export interface ToolFailure {
  readonly class: FailureClass;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  /** ISO 8601; only if the code is retryable and the time is known. */
  readonly retryNotBefore?: string;
  readonly correlationId: string;
}

const classes: Readonly<Record<ErrorCode, FailureClass>> = Object.freeze({
  x_rate_limited: 'reliability',
  x_auth_expired: 'governance',
  x_forbidden: 'governance',
  x_account_restricted: 'governance',
  x_network_error: 'reliability',
  x_not_configured: 'capability',
  x_api_error: 'reliability',
  db_error: 'reliability',
  validation_error: 'capability',
  invalid_input: 'capability',
  tweet_too_long: 'capability',
  llm_error: 'reliability',
  llm_not_configured: 'capability',
  unsupported_media_type: 'capability',
  file_read_error: 'capability',
  media_upload_error: 'reliability',
  thread_partial_failure: 'reliability',
  policy_error: 'reliability',
  policy_denied_blocked: 'governance',
  policy_denied_rate_limited: 'governance',
  policy_denied_hard_rule: 'governance',
  policy_denied_user_rule: 'governance',
  context_error: 'reliability',
  recommendation_error: 'reliability',
  topic_error: 'reliability',
  not_found: 'capability',
  serialization_error: 'reliability',
  timeout: 'reliability',
  upstream_unavailable: 'reliability',
  upstream_rejected: 'capability',
  rate_limited: 'reliability',
  unsupported_by_upstream: 'capability',
  unauthorized: 'governance',
  forbidden: 'governance',
  circuit_open: 'reliability',
  overloaded: 'reliability',
  cancelled: 'reliability',
  dry_run: 'governance',
  approval_required: 'governance',
  approval_denied: 'governance',
  approval_expired: 'governance',
  idempotency_conflict: 'capability',
  idempotency_in_flight: 'reliability',
  outcome_unknown: 'reliability',
  x_credits_depleted: 'governance',
  response_too_large: 'capability',
  internal_error: 'reliability',
});

/** Converts an error envelope to the proposal's format. `now` is in epoch milliseconds. */
export function toolFailure(
  { error, meta }: Pick<ErrorEnvelope<ErrorCode, unknown>, 'error' | 'meta'>,
  now: number,
): ToolFailure {
  const notBefore = error.retryable ? retryNotBefore(error, now) : undefined;
  return Object.freeze({
    class: classes[error.code],
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
