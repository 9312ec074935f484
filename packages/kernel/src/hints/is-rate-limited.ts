import { responseClock, retryAfter } from './retry-after.js';
import { findHeaders, headerNames } from './headers.js';
import { parseCount } from './numbers.js';
import { elements, field, parseJson, type ResponseLike } from './response.js';

const LIMIT_HEADERS = headerNames(['x-ratelimit-remaining', 'retry-after']);

/** GitHub's error types; the second was added in 2026, with `code: "graphql_rate_limit"`. */
const GRAPHQL_TYPES: ReadonlySet<unknown> = new Set(['RATE_LIMITED', 'RATE_LIMIT']);
const MAX_ERRORS = 16;

/** GitHub's documentation on rate limits, but not that of its /rate_limit endpoint. */
const LIMIT_DOCS = /rate-limit(?:s|ing)\b/;
const LIMIT_MESSAGE = /\b(?:secondary rate limit|abuse detection|API rate limit exceeded)\b/i;
const MAX_TEXT_CHARS = 512;

/**
 * Whether a response is a rate-limit rejection, which the upstream did not process:
 *
 * - 429;
 * - 403 of GitHub with `x-ratelimit-remaining: 0`, a `Retry-After`, or, because secondary limits may
 *   have no header, a documentation URL or message about rate limits;
 * - a GraphQL response with an error of type RATE_LIMITED, or a 200 that only points to GitHub's
 *   documentation on rate limits.
 *
 * A 403 with X's `x-rate-limit-remaining: 0` does not count: X uses 429 for rate limits, and the last
 * request of a window may be forbidden for another reason. Nor does a 503, even with `Retry-After`.
 */
export function isRateLimited(response: ResponseLike, now: number = Date.now()): boolean {
  const status = field(response, 'status');
  if (status === 429) return true;
  const body = field(response, 'body');
  const answer = typeof body === 'string' ? parseLimitText(body) : body;
  if (isGraphqlLimit(answer)) return true;
  if (status === 200) return matches(field(answer, 'documentation_url'), LIMIT_DOCS);
  if (status !== 403) return false;
  return hasLimitHeader(field(response, 'headers'), now) || hasLimitText(answer);
}

/** Whether a parsed GraphQL response reports the primary rate limit. */
export function isGraphqlLimit(answer: unknown): boolean {
  const errors = field(answer, 'errors');
  if (errors === undefined) return false;
  return elements(errors, MAX_ERRORS).some((error) => GRAPHQL_TYPES.has(field(error, 'type')));
}

function hasLimitHeader(headers: unknown, now: number): boolean {
  const found = findHeaders(headers, LIMIT_HEADERS);
  if (found === undefined) return false;
  if (parseCount(found.get('x-ratelimit-remaining')) === 0) return true;
  return retryAfter(found, responseClock(headers, now)) !== undefined;
}

function hasLimitText(answer: unknown): boolean {
  return (
    matches(field(answer, 'documentation_url'), LIMIT_DOCS) ||
    matches(field(answer, 'message'), LIMIT_MESSAGE)
  );
}

/** Parses a JSON string only if it contains one of the relevant words. */
function parseLimitText(text: string): unknown {
  return (
    parseJson(text, 'RATE_LIMIT') ??
    parseJson(text, 'rate-limit') ??
    parseJson(text, 'rate limit') ??
    parseJson(text, 'abuse')
  );
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value.slice(0, MAX_TEXT_CHARS));
}
