import type { RateLimitInfo } from '@toolkeel/kernel';

export const PROFILES = Object.freeze(['readonly', 'api', 'workflow'] as const);
export type Profile = (typeof PROFILES)[number];

export const MODES = Object.freeze(['autopilot', 'composer'] as const);
export type Mode = (typeof MODES)[number];

/** The profile a call runs in. Only `workflow` has a mode, and it always has one. */
export type RunProfile =
  | { readonly name: 'readonly' | 'api' }
  | { readonly name: 'workflow'; readonly mode: Mode; readonly approvalMode: boolean };

export interface PaginationInfo {
  readonly next_token?: string;
  readonly result_count: number;
  readonly has_more: boolean;
}

export interface RateLimitMeta {
  readonly limit: number;
  readonly remaining: number;
  /** ISO 8601. */
  readonly reset: string;
}

export interface IdempotencyMeta {
  readonly key?: string;
  readonly replayed: boolean;
  /** When the operation was first carried out, ISO 8601. */
  readonly first_at?: string;
}

interface BaseMeta {
  readonly tool_version: string;
  readonly elapsed_ms: number;
  readonly retry_count: number;
  readonly correlation_id: string;
  readonly pagination?: PaginationInfo;
  readonly rate_limit?: RateLimitMeta;
  readonly idempotency?: IdempotencyMeta;
}

export interface PlainMeta extends BaseMeta {
  readonly mode?: never;
  readonly approval_mode?: never;
}

export interface WorkflowMeta extends BaseMeta {
  readonly mode: Mode;
  readonly approval_mode: boolean;
}

export type Meta = PlainMeta | WorkflowMeta;

export interface MetaInput {
  readonly toolVersion: string;
  readonly elapsedMs: number;
  readonly retryCount: number;
  readonly correlationId: string;
  readonly profile: RunProfile;
  readonly pagination?: PaginationInfo | undefined;
  readonly rateLimit?: RateLimitMeta | undefined;
  readonly idempotency?: IdempotencyMeta | undefined;
}

export function createMeta(input: MetaInput): Meta {
  const { profile, pagination, rateLimit, idempotency } = input;
  return Object.freeze({
    tool_version: input.toolVersion,
    elapsed_ms: wholeCount(input.elapsedMs),
    retry_count: wholeCount(input.retryCount),
    correlation_id: input.correlationId,
    ...(pagination && { pagination }),
    ...(rateLimit && { rate_limit: rateLimit }),
    ...(idempotency && { idempotency }),
    ...(profile.name === 'workflow' && workflowFields(profile)),
  });
}

function workflowFields(profile: Extract<RunProfile, { name: 'workflow' }>) {
  const { mode, approvalMode } = profile;
  if (!MODES.includes(mode) || typeof approvalMode !== 'boolean') {
    throw new TypeError('the workflow profile always has a mode and an approval mode');
  }
  return { mode, approval_mode: approvalMode };
}

/** `has_more` is not a claim of its own: there is more exactly when there is a token to fetch it. */
export function paginationInfo(resultCount: number, nextToken?: string): PaginationInfo {
  return Object.freeze({
    ...(nextToken !== undefined && { next_token: nextToken }),
    result_count: resultCount,
    has_more: nextToken !== undefined,
  });
}

/** The kernel counts resets in seconds since 1970; an answer shows a time that people can read. */
export function rateLimitMeta(info: RateLimitInfo): RateLimitMeta {
  return Object.freeze({
    limit: info.limit,
    remaining: info.remaining,
    reset: new Date(info.reset * 1000).toISOString(),
  });
}

/** A clock that went backwards or a counter that was never set must not break the answer. */
function wholeCount(value: number): number {
  const whole = Math.round(value);
  return Number.isSafeInteger(whole) && whole > 0 ? whole : 0;
}
