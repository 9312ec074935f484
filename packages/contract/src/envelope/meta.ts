import { isObject } from '../json.js';
import type { RateLimitInfo } from '@toolkeel/kernel';
import { assertField, isoTime } from './error.js';

export const PROFILES = Object.freeze(['readonly', 'api', 'workflow'] as const);
export type Profile = (typeof PROFILES)[number];

export const MODES = Object.freeze(['autopilot', 'composer'] as const);
export type Mode = (typeof MODES)[number];

/** The profile a call runs in. Only `workflow` has a mode, and it always has one. */
export type RunProfile =
  | { readonly name: 'readonly' | 'api' }
  | { readonly name: 'workflow'; readonly mode: Mode; readonly approvalMode: boolean };

/** `has_more` is true exactly if there is a `next_token`. */
export type PaginationInfo =
  | {
      readonly next_token: string;
      readonly result_count: number;
      readonly has_more: true;
      /** Why the page is shorter than requested, and how to continue. */
      readonly warning?: string;
    }
  | { readonly next_token?: never; readonly result_count: number; readonly has_more: false };

export interface RateLimitMeta {
  readonly limit: number;
  readonly remaining: number;
  /** ISO 8601. */
  readonly reset: string;
}

export interface IdempotencyMeta {
  readonly key?: string;
  readonly replayed: boolean;
  /** Time of the first execution, ISO 8601. */
  readonly first_at?: string;
  /** Set on a replay that the caller may not expect. */
  readonly warning?: string;
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

/** Throws an InconsistentEnvelopeError that names the field for values that `envelopeSchema` does not allow. */
export function createMeta(input: MetaInput): Meta {
  assertField(isObject(input), 'meta', 'must be an object');
  const { toolVersion, correlationId, profile, pagination, rateLimit, idempotency } = input;
  assertField(typeof toolVersion === 'string', 'toolVersion', 'must be a string');
  assertField(isNonEmptyString(correlationId), 'correlationId', 'must be a non-empty string');
  assertField(isObject(profile) && PROFILES.includes(profile.name), 'profile', 'is not known');
  return Object.freeze({
    tool_version: toolVersion,
    elapsed_ms: wholeCount(input.elapsedMs),
    retry_count: wholeCount(input.retryCount),
    correlation_id: correlationId,
    ...(pagination !== undefined && { pagination: checkPagination(pagination) }),
    ...(rateLimit !== undefined && { rate_limit: checkRateLimit(rateLimit) }),
    ...(idempotency !== undefined && { idempotency: checkIdempotency(idempotency) }),
    ...(profile.name === 'workflow' && workflowFields(profile)),
  });
}

function workflowFields(profile: Extract<RunProfile, { name: 'workflow' }>) {
  const { mode, approvalMode } = profile;
  assertField(
    MODES.includes(mode) && typeof approvalMode === 'boolean',
    'profile',
    'workflow requires a mode and an approval mode',
  );
  return { mode, approval_mode: approvalMode };
}

/** Creates the pagination; `has_more` follows from the token. */
export function paginationInfo(
  resultCount: number,
  nextToken?: string,
  warning?: string,
): PaginationInfo {
  assertField(
    Number.isSafeInteger(resultCount) && resultCount >= 0,
    'pagination.result_count',
    'must be a whole number, 0 or more',
  );
  if (nextToken === undefined) return Object.freeze({ result_count: resultCount, has_more: false });
  assertField(isNonEmptyString(nextToken), 'pagination.next_token', 'must be a non-empty string');
  assertField(
    warning === undefined || isNonEmptyString(warning),
    'pagination.warning',
    'must be a non-empty string',
  );
  return Object.freeze({
    next_token: nextToken,
    result_count: resultCount,
    has_more: true,
    ...(warning !== undefined && { warning }),
  });
}

function checkPagination(given: PaginationInfo): PaginationInfo {
  assertField(isObject(given), 'pagination', 'must be an object');
  const warning = given.has_more ? given.warning : undefined;
  const info = paginationInfo(given.result_count, given.next_token, warning);
  assertField(
    given.has_more === info.has_more,
    'pagination.has_more',
    'must match whether there is a next_token',
  );
  return info;
}

/** Converts the kernel's rate limit, whose reset is in epoch seconds. */
export function rateLimitMeta(info: RateLimitInfo): RateLimitMeta {
  assertField(isObject(info), 'rateLimit', 'must be an object');
  const { limit, remaining, reset } = info;
  const time = typeof reset === 'number' ? isoTime(new Date(reset * 1000)) : undefined;
  assertField(time !== undefined, 'rateLimit.reset', 'must be a valid time');
  return checkRateLimit({ limit, remaining, reset: time });
}

export function checkRateLimit(given: RateLimitMeta): RateLimitMeta {
  assertField(isObject(given), 'rateLimit', 'must be an object');
  const { limit, remaining } = given;
  assertField(Number.isFinite(limit), 'rateLimit.limit', 'must be a finite number');
  assertField(Number.isFinite(remaining), 'rateLimit.remaining', 'must be a finite number');
  return Object.freeze({ limit, remaining, reset: checkTime('rateLimit.reset', given.reset) });
}

export function checkIdempotency(given: IdempotencyMeta): IdempotencyMeta {
  assertField(isObject(given), 'idempotency', 'must be an object');
  const { key, replayed, first_at: firstAt, warning } = given;
  assertField(key === undefined || typeof key === 'string', 'idempotency.key', 'must be a string');
  assertField(typeof replayed === 'boolean', 'idempotency.replayed', 'must be true or false');
  assertField(
    warning === undefined || isNonEmptyString(warning),
    'idempotency.warning',
    'must be a string',
  );
  return Object.freeze({
    ...(key !== undefined && { key }),
    replayed,
    ...(firstAt !== undefined && { first_at: checkTime('idempotency.first_at', firstAt) }),
    ...(warning !== undefined && { warning }),
  });
}

function checkTime(field: string, given: unknown): string {
  const time = isoTime(given);
  assertField(time !== undefined, field, 'must be a time in ISO 8601');
  return time;
}

/** Rounds to a non-negative integer; an invalid figure becomes 0 and must not prevent the answer. */
function wholeCount(value: unknown): number {
  const whole = typeof value === 'number' ? Math.round(value) : 0;
  return Number.isSafeInteger(whole) && whole > 0 ? whole : 0;
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
