import { isPermanent, type Effect, type Fault } from '../fault.js';
import { jitteredBackoff, type Backoff } from './backoff.js';
import { calculateRateLimitDelay } from './rate-limit.js';
import { defaultRateLimit, type RetryPolicy } from './policy.js';

/** Why a call gave up. The README explains what to do about each. */
export type GiveUpReason =
  | 'exhausted' // the policy allows no further retry
  | 'permanent' // a retry cannot succeed: other 4xx, 501, 505, a day's quota, an unexpected error
  | 'may_have_acted' // a `once` call that may have reached the upstream is never resent
  | 'not_opted_in' // a `once` call that was not sent, without `retryUnsent`
  | 'limit_surfaced' // the policy returns rate limits to the caller instead of waiting
  | 'hint_too_long' // `Retry-After` is longer than the policy allows
  | 'deadline' // the delay would end after the deadline
  | 'budget' // the retry budget of the upstream is empty
  | 'circuit_open'
  | 'cancelled';

export type RetryDecision =
  | { readonly retry: true; readonly afterMs: number }
  | { readonly retry: false; readonly reason: GiveUpReason };

export interface RetryContext {
  /** The side effects of the call. Default `read`. */
  readonly effect?: Effect;
  /** Allows a `once` call to be retried when it was certainly not sent. */
  readonly retryUnsent?: boolean | undefined;
  /** Epoch milliseconds, to compare with rate-limit resets. */
  readonly now?: number;
  /** On the clock of `now`. A retry whose delay would reach it is refused. */
  readonly deadline?: number;
  readonly random?: () => number;
  readonly observedMedianMs?: number | undefined;
}

/** The required numbers of a policy; the other fields have defaults. */
export type RetryNumbers = Backoff & Pick<RetryPolicy, 'maxRetries'> & Partial<RetryPolicy>;

/**
 * Decides whether to retry, and after how long. Pure: the same arguments give the same decision.
 *
 * The checks, in order: can this fault be retried at all, is a retry left, does the policy accept the
 * delay that the upstream asked for (`Retry-After`), does the delay fit the deadline. A 503 with
 * `Retry-After: 2`, for example, is a `server` fault with `retryAfterMs: 2000`; it is not retried if
 * the policy's `rateLimit.maxWaitMs` is below 2000 (`maxBackoffMs` where rate limits are surfaced).
 *
 * `attempt` is 0-indexed: pass 0 after the first attempt failed.
 */
export function shouldRetry(
  fault: Fault,
  attempt: number,
  policy: RetryNumbers,
  context: RetryContext = {},
): RetryDecision {
  const hintMs = requestedDelay(fault, context.now);
  const reason =
    unretryableReason(fault, context) ??
    (attempt < policy.maxRetries ? hintRefusal(fault, hintMs, policy) : 'exhausted');
  if (reason) return { retry: false, reason };

  // A rate limit is waited for exactly; after other faults the longer of hint and backoff applies.
  const limited = hintMs > 0 && fault.kind === 'rate_limited';
  const afterMs = limited ? hintMs : Math.max(hintMs, jitteredBackoff(attempt, policy, context));
  const { deadline = Infinity, now = Date.now() } = context;
  return now + afterMs < deadline ? { retry: true, afterMs } : { retry: false, reason: 'deadline' };
}

/** Why this fault is never retried, whatever the policy; undefined if it can be. */
function unretryableReason(
  fault: Fault,
  { effect, retryUnsent }: RetryContext,
): GiveUpReason | undefined {
  if (isPermanent(fault)) return 'permanent';
  switch (fault.kind) {
    case 'rate_limited':
      // The upstream did not process the request, so even a `once` call can be resent.
      return undefined;
    case 'connect':
    case 'network':
    case 'timeout':
    case 'server':
      if (fault.clock === 'deadline') return 'deadline';
      if (effect !== 'once') return undefined;
      if (fault.sent !== 'no') return 'may_have_acted';
      return retryUnsent ? undefined : 'not_opted_in';
    case 'cancelled':
    case 'circuit_open':
      return fault.kind;
    default:
      return 'permanent';
  }
}

/** The delay that the upstream asked for: `Retry-After`, or the latest reset of an exhausted limit. */
function requestedDelay({ kind, retryAfterMs = -1, limits = [] }: Fault, now = Date.now()): number {
  if (retryAfterMs >= 0) return retryAfterMs;
  if (kind !== 'rate_limited') return 0;
  return Math.max(
    0,
    ...limits.map(({ remaining, reset }) =>
      remaining > 0 ? 0 : calculateRateLimitDelay(reset, now),
    ),
  );
}

/** Why the policy does not wait as long as the upstream asked for; undefined if it does. */
function hintRefusal(
  { kind }: Fault,
  hintMs: number,
  { rateLimit = defaultRateLimit, maxBackoffMs }: RetryNumbers,
): GiveUpReason | undefined {
  const surfaces = rateLimit.onLimit === 'surface';
  if (kind === 'rate_limited' && (surfaces || (!hintMs && rateLimit.withoutHint === 'surface'))) {
    return 'limit_surfaced';
  }
  return hintMs > (surfaces ? maxBackoffMs : rateLimit.maxWaitMs) ? 'hint_too_long' : undefined;
}
