import type { Effect } from '@toolkeel/kernel';
import type { ErrorCode } from './table.js';

/** What every tool may answer without declaring it: raised around the handler, not by it. */
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

/** What a policy may answer in place of any tool, also one that reads. */
export const policyDenialCodes = Object.freeze([
  'policy_denied_blocked',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
] as const satisfies readonly ErrorCode[]);

/** What policy, approvals and the journal may answer in place of any tool that mutates. */
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

/** What the default fault table can answer; a tool that uses it declares these or its own mapping. */
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
 * The codes that a host may answer in place of a tool with this effect under some configuration. A
 * served description of a read names the denials only where a rule is about it, to keep listings short.
 */
export function hostCodes(effect: Effect): readonly ErrorCode[] {
  return [...new Set([...codesOfEffect(effect), ...policyDenialCodes])];
}

/** The codes that come with the effect, beside those that a tool declares. */
export function codesOfEffect(effect: Effect): readonly ErrorCode[] {
  return effect === 'read' ? sharedCodes : [...sharedCodes, ...mutationCodes];
}
