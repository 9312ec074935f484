import type { RetryPolicy } from './policy.js';

/** The four numbers of an exponential backoff, all that `calculateBackoff` looks at. */
export type Backoff = Pick<RetryPolicy, 'initialBackoffMs' | 'maxBackoffMs' | 'backoffMultiplier'>;

/**
 * The longest wait before retry `attempt` (0-indexed): initial × multiplier ^ attempt, capped.
 * Deterministic; the jitter comes on top, in `jitteredBackoff`.
 *
 * @example
 * calculateBackoff(1, definePolicy()); // 2000
 */
export function calculateBackoff(attempt: number, policy: Backoff): number {
  return growBackoff(policy.initialBackoffMs, attempt, policy);
}

export interface JitterContext {
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  /** The median latency of recent successes, where one is known. */
  readonly observedMedianMs?: number | undefined;
}

/**
 * The wait before retry `attempt`: the backoff, scaled to the upstream and spread by chance.
 *
 * A policy that scales but gets no median waits for a burst of faults to end: its later retries wait
 * at least half of their backoff, because they are the last ones.
 */
export function jitteredBackoff(
  attempt: number,
  policy: Backoff & Partial<RetryPolicy>,
  context: JitterContext = {},
): number {
  const { medianScale = NaN, initialBackoffMs, minBackoffMs = 0, jitter = 'none' } = policy;
  const { observedMedianMs = NaN, random = Math.random } = context;
  const scaled = medianScale * observedMedianMs;
  const first = scaled < initialBackoffMs ? scaled : initialBackoffMs;
  const longest = Math.max(minBackoffMs, growBackoff(first, attempt, policy));
  if (jitter === 'none') return longest;
  const outlasts = attempt > 0 && medianScale > 0 && !(scaled >= 0);
  const shortest = outlasts ? Math.max(minBackoffMs, longest / 2) : minBackoffMs;
  return shortest + random() * (longest - shortest);
}

/** How attempts at an upstream have ended lately. */
export interface RecentFaults {
  /** The share of attempts that failed. */
  readonly failureShare: number;
  /** The share of answers that a quick retry brought. */
  readonly recoveredShare: number;
}

/**
 * Is a quick retry likely to help, or does the fault belong to a burst that outlasts it?
 *
 * The first retry is quick unless the upstream keeps failing. When it fails too, two faults in a row
 * are a coincidence only at an upstream where quick retries keep bringing answers; elsewhere they
 * are a burst.
 */
export function retriesQuickly(
  attempt: number,
  { failureShare, recoveredShare }: RecentFaults,
  limits: { readonly failingShare: number; readonly isolatedShare: number },
): boolean {
  if (failureShare > limits.failingShare) return false;
  return attempt === 0 || recoveredShare > limits.isolatedShare;
}

function growBackoff(first: number, attempt: number, policy: Backoff): number {
  // 0 × Infinity is NaN: a zero backoff stays zero however often it is doubled.
  if (first === 0) return 0;
  return Math.min(policy.maxBackoffMs, first * policy.backoffMultiplier ** attempt);
}
