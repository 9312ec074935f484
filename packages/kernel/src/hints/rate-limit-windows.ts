import type { RateLimitInfo } from '../decide/rate-limit.js';
import type { ResponseClock } from './retry-after.js';
import { MAX_PLAUSIBLE_WAIT_MS, parseCount, parseGoDuration, roundUp } from './numbers.js';
import type { FoundHeaders } from './headers.js';
import { parseRfc3339 } from './dates.js';
import { parseDictionary, parseItemList, type Item } from './structured-fields.js';

/** A rate-limit window that a response reports. */
export interface RateLimitWindow {
  /** Milliseconds until the reset; negative if it has passed. */
  readonly waitMs: number;
  /** Undefined if the upstream reported only a reset. */
  readonly remaining: number | undefined;
  readonly limit: number | undefined;
  readonly name: string | undefined;
}

/** Names come from upstreams and appear in logs and results. */
const MAX_NAME_CHARS = 64;

/** Whether the reset is plausible; otherwise the unit or the server's clock is wrong. */
export function isPlausible(window: RateLimitWindow): boolean {
  return Math.abs(window.waitMs) <= MAX_PLAUSIBLE_WAIT_MS;
}

/** Converts a window to the local clock; undefined if it has no `remaining`. */
export function toRateLimitInfo(
  window: RateLimitWindow,
  clock: ResponseClock,
): RateLimitInfo | undefined {
  const { remaining, limit, name, waitMs } = window;
  if (remaining === undefined || !Number.isFinite(clock.now)) return undefined;
  return {
    limit: limit ?? remaining,
    remaining,
    reset: roundUp((clock.now + waitMs) / 1000),
    ...(name !== undefined && name.length <= MAX_NAME_CHARS && { name }),
    ...(limit === undefined && { limitUnknown: true }),
  };
}

/** Converts the reset header of a family to a delay in milliseconds. */
type ResetReader = (text: string, clock: ResponseClock) => number | undefined;

interface Family {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
  readonly readReset: ResetReader;
  readonly name?: string;
  /** The header with the window's name. */
  readonly nameHeader?: string;
}

const epochSeconds: ResetReader = (text, clock) => {
  const seconds = parseCount(text);
  return seconds === undefined ? undefined : seconds * 1000 - clock.serverNow();
};

const deltaSeconds: ResetReader = (text) => {
  const seconds = parseCount(text);
  return seconds === undefined ? undefined : seconds * 1000;
};

const timestamp: ResetReader = (text, clock) => {
  const at = parseRfc3339(text);
  return at === undefined ? undefined : at - clock.serverNow();
};

const FAMILIES: readonly Family[] = [
  // GitHub
  { ...suffixed('x-ratelimit', epochSeconds), nameHeader: 'x-ratelimit-resource' },
  // X: the endpoint's window, and two daily ones
  suffixed('x-rate-limit', epochSeconds),
  { ...suffixed('x-app-limit-24hour', epochSeconds), name: '24h app' },
  { ...suffixed('x-user-limit-24hour', epochSeconds), name: '24h user' },
  // IETF drafts before -07
  suffixed('ratelimit', deltaSeconds),
  // Anthropic
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((name) => ({
    ...suffixed(`anthropic-ratelimit-${name}`, timestamp),
    name,
  })),
  // OpenAI-compatible; the reset is when the bucket is full again, an upper bound
  ...['requests', 'tokens'].map((name) => ({
    limit: `x-ratelimit-limit-${name}`,
    remaining: `x-ratelimit-remaining-${name}`,
    reset: `x-ratelimit-reset-${name}`,
    readReset: (text: string) => parseGoDuration(text),
    name,
  })),
];

function suffixed(prefix: string, readReset: ResetReader): Family {
  return {
    limit: `${prefix}-limit`,
    remaining: `${prefix}-remaining`,
    reset: `${prefix}-reset`,
    readReset,
  };
}

export const NAMED_WINDOW_HEADERS: readonly string[] = FAMILIES.flatMap((family) => [
  family.limit,
  family.remaining,
  family.reset,
  ...(family.nameHeader === undefined ? [] : [family.nameHeader]),
]);

/** The windows of all limit/remaining/reset header families with a valid reset. */
export function namedWindows(headers: FoundHeaders, clock: ResponseClock): RateLimitWindow[] {
  const windows: RateLimitWindow[] = [];
  for (const family of FAMILIES) {
    const reset = headers.get(family.reset);
    const waitMs = reset === undefined ? undefined : family.readReset(reset, clock);
    if (waitMs === undefined) continue;
    const count = headers.get(family.remaining);
    const remaining = parseCount(count);
    // A missing count is allowed; a malformed one is not.
    if (count !== undefined && remaining === undefined) continue;
    windows.push({
      waitMs,
      remaining,
      limit: parseCount(headers.get(family.limit)),
      name: family.name ?? (family.nameHeader && headers.get(family.nameHeader)),
    });
  }
  return windows;
}

export const IETF_HEADERS: readonly string[] = ['ratelimit', 'ratelimit-policy'];

/**
 * The windows of the IETF's structured fields (draft-ietf-httpapi-ratelimit-headers-11):
 * `RateLimit: "default";r=50;t=30`, with the quota in `RateLimit-Policy: "default";q=100;w=60`. Also
 * draft -07's `RateLimit: limit=100, remaining=50, reset=30`. A limit without `t` has no reset and is
 * not reported.
 */
export function ietfWindows(headers: FoundHeaders): RateLimitWindow[] {
  const text = headers.get('ratelimit');
  if (text === undefined) return [];
  const items = parseItemList(text);
  if (items === undefined) return draft07(text);
  const quotas = quotasOf(headers.get('ratelimit-policy'));
  const windows: RateLimitWindow[] = [];
  for (const { value, params } of items) {
    const remaining = count(params.get('r'));
    const seconds = count(params.get('t'));
    if (value.type !== 'string' || remaining === undefined || seconds === undefined) continue;
    windows.push({
      waitMs: seconds * 1000,
      remaining,
      limit: quotas.get(value.value),
      name: value.value,
    });
  }
  return windows;
}

function quotasOf(policy: string | undefined): Map<string, number> {
  const quotas = new Map<string, number>();
  for (const { value, params } of parseItemList(policy ?? '') ?? []) {
    const quota = count(params.get('q'));
    if (value.type === 'string' && quota !== undefined) quotas.set(value.value, quota);
  }
  return quotas;
}

function draft07(text: string): RateLimitWindow[] {
  const members = parseDictionary(text);
  const remaining = count(members?.get('remaining')?.value);
  const seconds = count(members?.get('reset')?.value);
  if (remaining === undefined || seconds === undefined) return [];
  const limit = count(members?.get('limit')?.value);
  return [{ waitMs: seconds * 1000, remaining, limit, name: undefined }];
}

function count(item: Item['value'] | undefined): number | undefined {
  return item?.type === 'integer' && item.value >= 0 ? item.value : undefined;
}
