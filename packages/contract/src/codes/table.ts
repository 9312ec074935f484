import type { Effect } from '@toolkeel/kernel';

/** The meaning of an error code. */
export interface CodeEntry {
  readonly category: string;
  /** Advice to the agent: the same call may succeed later. Independent of the kernel's retries. */
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
  upstream_rejected: entry('Upstream', no, 'The upstream rejected the request'),
  rate_limited: entry('Upstream', yes, 'The upstream rate limit is exceeded'),
  unsupported_by_upstream: entry('Upstream', no, 'The upstream does not support the request'),
  unauthorized: entry('Access', no, 'The upstream rejected the credential'),
  forbidden: entry('Access', no, 'The credential lacks permission, or the target is not allowed'),
  circuit_open: entry('Protection', yes, 'Calls to a failing upstream are paused'),
  overloaded: entry('Protection', yes, 'Too many calls are queued'),
  cancelled: entry('Protection', no, 'The caller cancelled the call'),
  dry_run: entry('Policy', no, 'A rule allows a dry run only: nothing was sent'),
  approval_required: entry('Approval', no, 'A human must approve the call before it is executed'),
  approval_denied: entry('Approval', no, 'A human rejected the call'),
  approval_expired: entry('Approval', no, 'The call was not approved in time'),
  idempotency_conflict: entry('Journal', no, 'The idempotency key was used with other arguments'),
  idempotency_in_flight: entry('Journal', yes, 'The same operation is still in flight'),
  outcome_unknown: entry(
    'Journal',
    no,
    'The operation may have been executed; its outcome is unknown',
  ),
  x_credits_depleted: entry('X API', no, 'The X account has no credits left'),
  response_too_large: entry('Internal', no, 'The result exceeds the byte budget'),
  internal_error: entry('Internal', no, 'Internal error; the cause is in the server log'),
});

/** All error codes. */
export const codes = Object.freeze({ ...frozenCodes, ...addedCodes });

export type ErrorCode = keyof typeof codes;

/** The literal type of a code's `retryable`. */
export type RetryableOf<Code extends ErrorCode> = (typeof codes)[Code]['retryable'];

export const errorCodes: readonly ErrorCode[] = Object.freeze(
  Object.keys(codes).filter((key): key is ErrorCode => isErrorCode(key)),
);

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(codes, value);
}

/** The only source of `retryable`. */
export function isRetryable(code: ErrorCode): boolean {
  return codes[code].retryable;
}

/** Whether a failed mutation was executed. */
export type FailureOutcome = 'executed' | 'not_executed' | 'unknown';

export type PolicyDecision = 'denied' | 'routed_to_approval';

const decisions = Object.freeze({
  policy_denied_blocked: 'denied',
  policy_denied_rate_limited: 'denied',
  policy_denied_hard_rule: 'denied',
  policy_denied_user_rule: 'denied',
  approval_denied: 'denied',
  approval_required: 'routed_to_approval',
} as const satisfies Partial<Record<ErrorCode, PolicyDecision>>);

const onlyOutcomes = Object.freeze({
  // The call ended before its handler could send anything.
  validation_error: 'not_executed',
  policy_denied_blocked: 'not_executed',
  policy_denied_rate_limited: 'not_executed',
  policy_denied_hard_rule: 'not_executed',
  policy_denied_user_rule: 'not_executed',
  dry_run: 'not_executed',
  approval_required: 'not_executed',
  approval_denied: 'not_executed',
  approval_expired: 'not_executed',
  idempotency_conflict: 'not_executed',
  outcome_unknown: 'unknown',
} as const satisfies Partial<Record<ErrorCode, FailureOutcome>>);

/** The outcomes that a code allows. */
export type OutcomeOf<Code extends ErrorCode> = Code extends keyof typeof onlyOutcomes
  ? (typeof onlyOutcomes)[Code]
  : FailureOutcome;

/** The `policy_decision` that follows from the code. */
export function policyDecisionOf(code: ErrorCode): PolicyDecision | undefined {
  const known: Partial<Record<ErrorCode, PolicyDecision>> = decisions;
  return known[code];
}

/** The only outcome that a code allows; undefined if it allows all. */
export function onlyOutcomeOf(code: ErrorCode): FailureOutcome | undefined {
  const known: Partial<Record<ErrorCode, FailureOutcome>> = onlyOutcomes;
  return known[code];
}

/** Codes of the run itself, which every tool may return without declaring them. */
export const sharedCodes = Object.freeze([
  'validation_error',
  'serialization_error',
  'response_too_large',
  'timeout',
  'cancelled',
  'overloaded',
  'internal_error',
] as const satisfies readonly ErrorCode[]);

export type SharedCode = (typeof sharedCodes)[number];

/** Codes of the policy, for reads and mutations. */
export const policyDenialCodes = Object.freeze([
  'policy_denied_blocked',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
] as const satisfies readonly ErrorCode[]);

/** Codes of policy, approvals and journal, for mutations. */
export const mutationCodes = Object.freeze([
  'policy_error',
  ...policyDenialCodes,
  'policy_denied_rate_limited',
  'dry_run',
  'approval_required',
  'approval_denied',
  'approval_expired',
  'idempotency_conflict',
  'idempotency_in_flight',
  'outcome_unknown',
  'db_error',
] as const satisfies readonly ErrorCode[]);

/** Codes of the default fault mapping. A tool declares them or has its own mapping. */
export const upstreamCodes = Object.freeze([
  'upstream_unavailable',
  'upstream_rejected',
  'rate_limited',
  'unauthorized',
  'forbidden',
  'not_found',
  'circuit_open',
] as const satisfies readonly ErrorCode[]);

/**
 * The codes that a host may return for a tool with this effect under any configuration. The listing of
 * a read includes the denials only if a rule applies to it, to stay short.
 */
export function hostCodes(effect: Effect): readonly ErrorCode[] {
  return [...new Set([...codesOfEffect(effect), ...policyDenialCodes])];
}

/** The codes that the effect implies, in addition to the declared ones. */
export function codesOfEffect(effect: Effect): readonly ErrorCode[] {
  return effect === 'read' ? sharedCodes : [...sharedCodes, ...mutationCodes];
}

/** Renders docs/error-codes.md. */
export function errorCodesMarkdown(): string {
  const retryable = Object.entries(codes).filter(([, code]) => code.retryable);
  return [
    '# Error codes',
    '',
    '<!-- Generated from packages/contract/src/codes/table.ts. Do not edit: run',
    '     UPDATE_DOCS=1 npx vitest run packages/contract -->',
    '',
    'Every failed call carries one of these codes in `error.code`. `retryable` is advice to the',
    'agent: the same call may succeed later. It follows from the code alone; no tool can set it.',
    '',
    `## The ${Object.keys(frozenCodes).length} codes of the original contract`,
    '',
    ...table(frozenCodes),
    '',
    '## Added codes',
    '',
    ...table(addedCodes),
    '',
    '## Summary',
    '',
    `Retryable: ${names(retryable.map(([code]) => code))}.`,
    '',
    `Any tool may return ${names(sharedCodes)} without declaring them.`,
    '',
  ].join('\n');
}

function table(entries: Readonly<Record<string, CodeEntry>>): readonly string[] {
  return [
    '| Code | Category | Retryable | Description |',
    '| --- | --- | --- | --- |',
    ...Object.entries(entries).map(
      ([code, { category, retryable, description }]) =>
        `| \`${code}\` | ${category} | ${retryable ? 'Yes' : 'No'} | ${description} |`,
    ),
  ];
}

function names(list: readonly string[]): string {
  return list.map((name) => `\`${name}\``).join(', ');
}
