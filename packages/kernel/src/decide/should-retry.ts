import { isPermanent, type Effect, type Fault } from '../fault.js';
import { jitteredBackoff, type Backoff } from './backoff.js';
import { calculateRateLimitDelay } from './rate-limit.js';
import { defaultRateLimit, type RetryPolicy } from './policy.js';

export type GiveUpReason =
  | 'exhausted' // every attempt that the policy allows was made
  | 'permanent' // trying again cannot help
  | 'may_have_acted' // a `once` call that may have reached the upstream is never resent
  | 'not_opted_in' // surely not sent, but the definition did not ask for a retry
  | 'limit_surfaced' // the caller is told to wait, we do not
  | 'hint_too_long' // the upstream asks for a longer wait than the policy gives
  | 'deadline' // the wait would pass the deadline
  | 'budget' // too many retries lately: the upstream is spared
  | 'circuit_open'
  | 'cancelled';

export type RetryDecision =
  | { readonly retry: true; readonly afterMs: number }
  | { readonly retry: false; readonly reason: GiveUpReason };

export interface RetryContext {
  /** What the call does to the world. Default `read`. */
  readonly effect?: Effect;
  /** A `once` call that was surely not sent may be sent again. */
  readonly retryUnsent?: boolean | undefined;
  /** Epoch milliseconds, to compare with the resets of rate limits. */
  readonly now?: number;
  /** On the clock of `now`: a wait that would reach it is not begun. */
  readonly deadline?: number;
  readonly random?: () => number;
  readonly observedMedianMs?: number | undefined;
}

/** The four numbers of a policy; the rest has its defaults. */
export type RetryNumbers = Backoff & Pick<RetryPolicy, 'maxRetries'> & Partial<RetryPolicy>;

/**
 * Retry, and after how long? Pure: the same arguments give the same answer.
 *
 * `attempt` is 0-indexed: after the first attempt failed, ask with 0.
 */
export function shouldRetry(
  fault: Fault,
  attempt: number,
  policy: RetryNumbers,
  context: RetryContext = {},
): RetryDecision {
  const obstacle = obstacleTo(fault, context);
  if (obstacle) return stop(obstacle);
  if (!(attempt < policy.maxRetries)) return stop('exhausted');

  const hintMs = hintOf(fault, context.now);
  const refusal = refusalOfHint(fault, hintMs, policy);
  if (refusal) return stop(refusal);

  // Without a time to wait we back off; with one, an upstream that merely fails is spared longer.
  const limited = hintMs > 0 && fault.kind === 'rate_limited';
  const afterMs = limited ? hintMs : Math.max(hintMs, jitteredBackoff(attempt, policy, context));
  const { deadline = Infinity, now = Date.now() } = context;
  return now + afterMs < deadline ? { retry: true, afterMs } : stop('deadline');
}

/** The reason why this fault is not retried at all, however many attempts are left. */
function obstacleTo(fault: Fault, { effect, retryUnsent }: RetryContext): GiveUpReason | undefined {
  if (isPermanent(fault)) return 'permanent';
  switch (fault.kind) {
    case 'rate_limited':
      // A limit rejection was not processed, so even a `once` call may be sent again.
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

/** How long the upstream asked us to wait; 0 if it did not, or if that time has passed. */
function hintOf({ kind, retryAfterMs = -1, limits = [] }: Fault, now = Date.now()): number {
  if (retryAfterMs >= 0) return retryAfterMs;
  if (kind !== 'rate_limited') return 0;
  return Math.max(
    0,
    ...limits.map(({ remaining, reset }) =>
      remaining > 0 ? 0 : calculateRateLimitDelay(reset, now),
    ),
  );
}

function refusalOfHint(
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

function stop(reason: GiveUpReason): RetryDecision {
  return { retry: false, reason };
}
