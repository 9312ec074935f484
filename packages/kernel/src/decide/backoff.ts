import type { RetryPolicy } from './policy.js';

/** The settings of an exponential backoff. */
export type Backoff = Pick<RetryPolicy, 'initialBackoffMs' | 'maxBackoffMs' | 'backoffMultiplier'>;

/**
 * The maximum delay before retry `attempt` (0-indexed): initial × multiplier ^ attempt, capped.
 * Deterministic; `jitteredBackoff` applies the jitter.
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
  /** The median latency of recent successes, if known. */
  readonly observedMedianMs?: number | undefined;
}

/**
 * The delay before retry `attempt`: the backoff, scaled to the upstream's latency and randomised.
 *
 * Without a median, a policy that scales assumes a burst of faults: retries after the first wait at
 * least half of their backoff.
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
  const inBurst = attempt > 0 && medianScale > 0 && !(scaled >= 0);
  const shortest = inBurst ? Math.max(minBackoffMs, longest / 2) : minBackoffMs;
  return shortest + random() * (longest - shortest);
}

/** Results of recent attempts at an upstream. */
export interface RecentFaults {
  /** The share of attempts that failed. */
  readonly failureShare: number;
  /** The share of successes that followed a quick retry. */
  readonly recoveredShare: number;
}

/**
 * Whether a quick retry is likely to succeed, as opposed to a fault within a longer burst.
 *
 * The first retry is quick unless the upstream keeps failing. A second fault in a row indicates a
 * burst, unless quick retries often succeed at this upstream.
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
  // Avoids 0 × Infinity, which is NaN.
  if (first === 0) return 0;
  return Math.min(policy.maxBackoffMs, first * policy.backoffMultiplier ** attempt);
}
