/** What one error code means, to a person and to an agent. */
export interface CodeEntry {
  readonly category: string;
  /** Advice to the agent: the same call may succeed later. Not the kernel's "retried automatically". */
  readonly retryable: boolean;
  readonly description: string;
}

const yes = true;
const no = false;

const entry = <const R extends boolean>(category: string, retryable: R, description: string) =>
  Object.freeze({ category, retryable, description });

/** The 27 codes of the original contract. Their categories, flags and meanings never change. */
export const frozenCodes = Object.freeze({
  x_rate_limited: entry('X API', yes, 'Rate limit exceeded'),
  x_auth_expired: entry('X API', no, 'OAuth token expired'),
  x_forbidden: entry('X API', no, 'Insufficient permissions'),
  x_account_restricted: entry('X API', no, 'Account suspended/restricted'),
  x_network_error: entry('X API', yes, 'Network/timeout error'),
  x_not_configured: entry('X API', no, 'X client not initialized'),
  x_api_error: entry('X API', yes, 'Generic X API error'),
  db_error: entry('Database', yes, 'Database operation failed'),
  validation_error: entry('Validation', no, 'Input validation failed'),
  invalid_input: entry('Validation', no, 'Invalid parameter value'),
  tweet_too_long: entry('Validation', no, 'Tweet exceeds 280 weighted chars'),
  llm_error: entry('LLM', yes, 'LLM provider call failed'),
  llm_not_configured: entry('LLM', no, 'No LLM provider configured'),
  unsupported_media_type: entry('Media', no, 'File extension not supported'),
  file_read_error: entry('Media', no, 'Could not read media file'),
  media_upload_error: entry('Media', no, 'Upload to X API failed'),
  thread_partial_failure: entry('Thread', yes, 'Some tweets posted, then failure'),
  policy_error: entry('Policy', yes, 'Policy evaluation error'),
  policy_denied_blocked: entry('Policy', no, 'Blocked by policy rule'),
  policy_denied_rate_limited: entry('Policy', no, 'Policy rate limit exceeded'),
  policy_denied_hard_rule: entry('Policy', no, 'Hard safety rule violation'),
  policy_denied_user_rule: entry('Policy', no, 'User-defined rule violation'),
  context_error: entry('Context', no, 'Author context lookup failed'),
  recommendation_error: entry('Context', no, 'Engagement recommendation failed'),
  topic_error: entry('Context', no, 'Topic analysis failed'),
  not_found: entry('Resource', no, 'Requested resource not found'),
  serialization_error: entry('Internal', no, 'JSON serialization failed'),
});

/** Codes for what the 27 cannot say. */
export const addedCodes = Object.freeze({
  timeout: entry('Upstream', yes, 'One of our clocks ran out before the upstream answered'),
  upstream_unavailable: entry('Upstream', yes, 'The upstream could not be reached or failed'),
  upstream_rejected: entry('Upstream', no, 'The upstream refused the request as it was made'),
  rate_limited: entry('Upstream', yes, 'The upstream asked us to slow down'),
  unsupported_by_upstream: entry('Upstream', no, 'The upstream does not offer what was asked for'),
  unauthorized: entry('Access', no, 'The upstream did not accept our credential'),
  forbidden: entry('Access', no, 'The credential may not do this, or the target is not allowed'),
  circuit_open: entry('Protection', yes, 'Calls to a failing upstream are paused for a moment'),
  overloaded: entry('Protection', yes, 'Too many calls are waiting already'),
  cancelled: entry('Protection', no, 'The caller cancelled the call'),
  dry_run: entry('Policy', no, 'A rule lets the call only be tried: nothing was sent'),
  approval_required: entry(
    'Approval',
    no,
    'A person must approve the call before it is carried out',
  ),
  approval_denied: entry('Approval', no, 'A person refused the call'),
  approval_expired: entry('Approval', no, 'Nobody approved the call in time'),
  idempotency_conflict: entry('Journal', no, 'The idempotency key was used with other arguments'),
  idempotency_in_flight: entry('Journal', yes, 'The same operation is still being carried out'),
  outcome_unknown: entry('Journal', no, 'The operation may have happened, and nobody can tell yet'),
  x_credits_depleted: entry('X API', no, 'The X account has no credits left'),
  response_too_large: entry('Internal', no, 'The answer does not fit the byte budget'),
  internal_error: entry('Internal', no, 'The tool failed in a way that nobody foresaw'),
});

/** Every code a tool can answer with. */
export const codes = Object.freeze({ ...frozenCodes, ...addedCodes });

export type ErrorCode = keyof typeof codes;

/** `true` or `false` as a type, so that a misread flag is a compile error. */
export type RetryableOf<Code extends ErrorCode> = (typeof codes)[Code]['retryable'];

export const errorCodes: readonly ErrorCode[] = Object.freeze(
  Object.keys(codes).filter((key): key is ErrorCode => isErrorCode(key)),
);

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(codes, value);
}

/** The only place that `retryable` comes from. */
export function isRetryable(code: ErrorCode): boolean {
  return codes[code].retryable;
}
