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
  response_too_large: entry('Internal', no, 'The result exceeds the byte budget'),
  internal_error: entry('Internal', no, 'Internal error; the cause is in the server log'),
});

/** The codes of the contract itself. Packs register theirs: see `registerCodes`. */
export const codes = Object.freeze({ ...frozenCodes, ...addedCodes });

export type BuiltInCode = keyof typeof codes;

/** A code of the contract, or one that a pack has registered. */
export type ErrorCode = BuiltInCode | (string & {});

/** The literal type of a code's `retryable`. */
export type RetryableOf<Code extends ErrorCode> = Code extends BuiltInCode
  ? (typeof codes)[Code]['retryable']
  : boolean;

export const errorCodes: readonly BuiltInCode[] = Object.freeze(
  Object.keys(codes).filter((key): key is BuiltInCode => isBuiltIn(key)),
);

export function isBuiltIn(value: unknown): value is BuiltInCode {
  return typeof value === 'string' && Object.hasOwn(codes, value);
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
} as const satisfies Partial<Record<BuiltInCode, PolicyDecision>>);

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
} as const satisfies Partial<Record<BuiltInCode, FailureOutcome>>);

/** The outcomes that a code allows. */
export type OutcomeOf<Code extends ErrorCode> = Code extends keyof typeof onlyOutcomes
  ? (typeof onlyOutcomes)[Code]
  : FailureOutcome;

/**
 * `capability`: the request cannot be fulfilled as it is. `reliability`: a component failed or is busy.
 * `governance`: a permission or approval is missing.
 */
export type FailureClass = 'capability' | 'reliability' | 'governance';

const governance: ReadonlySet<BuiltInCode> = new Set<BuiltInCode>([
  'x_auth_expired',
  'x_forbidden',
  'x_account_restricted',
  'policy_denied_blocked',
  'policy_denied_rate_limited',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
  'unauthorized',
  'forbidden',
  'dry_run',
  'approval_required',
  'approval_denied',
  'approval_expired',
]);

/** Not retryable as they are, and yet not the fault of the request. */
const failures: ReadonlySet<BuiltInCode> = new Set<BuiltInCode>([
  'media_upload_error',
  'context_error',
  'recommendation_error',
  'topic_error',
  'serialization_error',
  'cancelled',
  'outcome_unknown',
  'internal_error',
]);

/** Lifted by an operator or the caller without changing the request; approvals are decided elsewhere. */
const fixable: ReadonlySet<BuiltInCode> = new Set<BuiltInCode>([
  ...[...governance].filter((code) => !code.startsWith('approval_')),
  'x_not_configured',
  'llm_not_configured',
  'cancelled',
]);

/** What follows from a code. */
export interface CodeTraits {
  readonly retryable: boolean;
  readonly class: FailureClass;
  /** Whether the same request may succeed later, after a wait or an operator's intervention. */
  readonly recoverable: boolean;
  /** The only outcome that the code allows. */
  readonly outcome?: FailureOutcome | undefined;
  readonly policyDecision?: PolicyDecision | undefined;
}

const traits = new Map<string, CodeTraits>(
  errorCodes.map((code) => {
    const { retryable } = codes[code];
    const ofFailure = retryable || failures.has(code) ? 'reliability' : 'capability';
    const policyDecisions: Partial<Record<BuiltInCode, PolicyDecision>> = decisions;
    const outcomes: Partial<Record<BuiltInCode, FailureOutcome>> = onlyOutcomes;
    const entryTraits: CodeTraits = {
      retryable,
      class: governance.has(code) ? 'governance' : ofFailure,
      recoverable: retryable || fixable.has(code),
      outcome: outcomes[code],
      policyDecision: policyDecisions[code],
    };
    return [code, Object.freeze(entryTraits)];
  }),
);

export function builtInTraits(code: string): CodeTraits | undefined {
  return traits.get(code);
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
] as const satisfies readonly BuiltInCode[]);

export type SharedCode = (typeof sharedCodes)[number];

/** Codes of the policy, for reads and mutations. */
export const policyDenialCodes = Object.freeze([
  'policy_denied_blocked',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
] as const satisfies readonly BuiltInCode[]);

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
] as const satisfies readonly BuiltInCode[]);

/** Codes of the default fault mapping. A tool declares them or has its own mapping. */
export const upstreamCodes = Object.freeze([
  'upstream_unavailable',
  'upstream_rejected',
  'rate_limited',
  'unauthorized',
  'forbidden',
  'not_found',
  'circuit_open',
] as const satisfies readonly BuiltInCode[]);

/**
 * The codes that a host may return for a tool with this effect under any configuration. The listing of
 * a read includes the denials only if a rule applies to it, to stay short.
 */
export function hostCodes(effect: Effect): readonly BuiltInCode[] {
  return [...new Set([...codesOfEffect(effect), ...policyDenialCodes])];
}

/** The codes that the effect implies, in addition to the declared ones. */
export function codesOfEffect(effect: Effect): readonly BuiltInCode[] {
  return effect === 'read' ? sharedCodes : [...sharedCodes, ...mutationCodes];
}
