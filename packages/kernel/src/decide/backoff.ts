import type { RetryPolicy } from './retry-policy.js';

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

/** The wait before retry `attempt`: the backoff, scaled to the upstream and spread by chance. */
export function jitteredBackoff(
  attempt: number,
  policy: Backoff & Partial<RetryPolicy>,
  context: JitterContext = {},
): number {
  const { medianScale, initialBackoffMs, minBackoffMs = 0, jitter = 'none' } = policy;
  const { observedMedianMs, random = Math.random } = context;
  const first =
    medianScale !== undefined && observedMedianMs !== undefined && observedMedianMs >= 0
      ? Math.min(initialBackoffMs, medianScale * observedMedianMs)
      : initialBackoffMs;
  const longest = Math.max(minBackoffMs, growBackoff(first, attempt, policy));
  if (jitter === 'none') return longest;
  return minBackoffMs + random() * (longest - minBackoffMs);
}

function growBackoff(first: number, attempt: number, policy: Backoff): number {
  // 0 × Infinity is NaN: a zero backoff stays zero however often it is doubled.
  if (first === 0) return 0;
  return Math.min(policy.maxBackoffMs, first * policy.backoffMultiplier ** attempt);
}
