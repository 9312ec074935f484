import { responseClock, retryAfter } from './retry-after.js';
import { findHeaders, headerNames } from './headers.js';
import { parseCount } from './numbers.js';
import { elements, field, parseJson, type ResponseLike } from './response.js';

const SIGNS = headerNames(['x-ratelimit-remaining', 'retry-after']);

/** GitHub's two names for it; the second came in 2026, with `code: "graphql_rate_limit"`. */
const GRAPHQL_TYPES: ReadonlySet<unknown> = new Set(['RATE_LIMITED', 'RATE_LIMIT']);
const MAX_ERRORS = 16;

/** GitHub's pages and anchors on limits, but not the page of its /rate_limit endpoint. */
const LIMIT_DOCS = /rate-limit(?:s|ing)\b/;
const LIMIT_MESSAGE = /\b(?:secondary rate limit|abuse detection|API rate limit exceeded)\b/i;
const MAX_TEXT_CHARS = 512;

/**
 * Whether a response is a refusal because of a limit, which the upstream did not process:
 *
 * - 429;
 * - 403 with a sign of GitHub's limits: no request remaining, a `Retry-After`, or, because
 *   secondary limits may come without any header and have no type, their documentation or text;
 * - a GraphQL answer that GitHub refused: an error of type RATE_LIMITED, or a 200 that is nothing
 *   but a pointer to the documentation on limits.
 *
 * X's `x-rate-limit-remaining: 0` on a 403 is no sign: X never says a limit with a 403, and the last
 * request that a window allows may be forbidden for its own reasons. A 503 is the upstream's
 * trouble, not our limit.
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

/** Whether a parsed GraphQL answer says that the primary limit does not allow it. */
export function isGraphqlLimit(answer: unknown): boolean {
  const errors = field(answer, 'errors');
  if (errors === undefined) return false;
  return elements(errors, MAX_ERRORS).some((error) => GRAPHQL_TYPES.has(field(error, 'type')));
}

function hasLimitHeader(headers: unknown, now: number): boolean {
  const found = findHeaders(headers, SIGNS);
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

/** JSON text is parsed only if it holds one of the words that we look for in it. */
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
