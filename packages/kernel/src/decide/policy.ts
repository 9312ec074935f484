import { checkBreaker, type BreakerOptions } from '../layers/breaker.js';
import { checkBudget, type BudgetOptions } from '../layers/budget.js';
import { checkHedge, type HedgeOptions } from '../layers/hedge.js';
import {
  checkChoice,
  checkNumber,
  checkNumbers,
  checkOrder,
  MAX_TIMER_MS,
  refuse,
} from './validate.js';

/** A retry policy and the clocks, budget and breaker around it. Presets are of this type. */
export interface ResiliencePolicy extends RetryPolicy {
  /** The whole call, waits and retries included. */
  readonly callTimeoutMs?: number;
  /** One attempt. */
  readonly attemptTimeoutMs?: number;
  /** One attempt without progress. */
  readonly idleTimeoutMs?: number;
  /** `false`: none. Left out: the usual one. */
  readonly budget?: BudgetOptions | false;
  readonly breaker?: BreakerOptions | false;
  readonly hedge?: HedgeOptions;
}

const known: readonly string[] = [
  'maxRetries',
  'initialBackoffMs',
  'maxBackoffMs',
  'backoffMultiplier',
  'jitter',
  'minBackoffMs',
  'medianScale',
  'rateLimit',
  'callTimeoutMs',
  'attemptTimeoutMs',
  'idleTimeoutMs',
  'budget',
  'breaker',
  'hedge',
];

const checked = new WeakSet<object>();

/**
 * Completes, checks and freezes a policy. A number that is negative, not finite or at odds with
 * another is refused here, by name, and not when the first call fails.
 *
 * @example
 * const patient = definePolicy({ maxRetries: 5, maxBackoffMs: 30_000, callTimeoutMs: 120_000 });
 */
export function definePolicy(options: Partial<ResiliencePolicy> = {}): ResiliencePolicy {
  if (typeof options !== 'object' || options === null) {
    return refuse('policy', 'must be an object', options);
  }
  if (checked.has(options)) return options as ResiliencePolicy;
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) refuse(key, `is not a field of a policy (${known.join(', ')})`);
  }
  const policy: ResiliencePolicy = freeze(completeRetryPolicy(options));
  checkClocks(policy);
  if (policy.budget) checkBudget(policy.budget);
  if (policy.breaker) checkBreaker(policy.breaker);
  if (policy.hedge) checkHedge(policy.hedge);
  checked.add(policy);
  return policy;
}

/** A copy that nobody can change any more, not even one of its parts. */
function freeze<T extends object>(value: T): T {
  const parts = Object.entries(value).map(([key, part]: [string, unknown]) => [
    key,
    typeof part === 'object' && part !== null ? freeze(part) : part,
  ]);
  return Object.freeze(Object.fromEntries(parts)) as T;
}

function checkClocks({ callTimeoutMs, attemptTimeoutMs, idleTimeoutMs }: ResiliencePolicy): void {
  const clocks = { callTimeoutMs, attemptTimeoutMs, idleTimeoutMs };
  for (const [field, value] of Object.entries(clocks)) {
    if (value !== undefined) checkNumber(field, value, { above: 0, max: MAX_TIMER_MS });
  }
  // A clock that can never run out before the one around it was meant to be something else.
  const call = callTimeoutMs ?? Infinity;
  const attempt = attemptTimeoutMs ?? call;
  checkOrder('attemptTimeoutMs', attempt, 'callTimeoutMs', call);
  checkOrder('idleTimeoutMs', idleTimeoutMs ?? 0, 'attemptTimeoutMs', attempt);
}

/** What to do when the upstream says "too many requests". */
export type RateLimitRule =
  /** Hand the limit to the caller at once, with the time to wait. */
  | { readonly onLimit: 'surface' }
  /** Wait as told if that is at most `maxWaitMs` and fits the deadline; surface it otherwise. */
  | {
      readonly onLimit: 'wait';
      readonly maxWaitMs: number;
      /** When the upstream gave no time to wait. */
      readonly withoutHint: 'backoff' | 'surface';
    };

/** How often, how long apart. `maxRetries` counts retries: attempts are at most one more. */
export interface RetryPolicy {
  readonly maxRetries: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly backoffMultiplier: number;
  /** `full`: anywhere between `minBackoffMs` and the backoff. `none`: the backoff itself. */
  readonly jitter: 'none' | 'full';
  readonly minBackoffMs: number;
  /**
   * With it, the first backoff is at most this many observed median latencies (never more than
   * `initialBackoffMs`): a fast upstream is retried fast, a slow one slowly. Where no median applies,
   * retries after the first wait at least half of their backoff, to outlast a burst of faults.
   */
  readonly medianScale?: number;
  readonly rateLimit: RateLimitRule;
}

export const defaultRateLimit: RateLimitRule = {
  onLimit: 'wait',
  maxWaitMs: 60_000,
  withoutHint: 'backoff',
};

const defaults: RetryPolicy = {
  maxRetries: 3,
  initialBackoffMs: 1000,
  maxBackoffMs: 60_000,
  backoffMultiplier: 2,
  jitter: 'none',
  minBackoffMs: 0,
  rateLimit: defaultRateLimit,
};

/** Fills in what was left out, and refuses by name what cannot be. Ignores what it does not know. */
export function completeRetryPolicy<P extends Partial<RetryPolicy>>(options: P): P & RetryPolicy {
  const policy = { ...defaults, ...options };
  checkRetry(policy);
  return policy;
}

function checkRetry(policy: RetryPolicy): void {
  const { initialBackoffMs, maxBackoffMs, minBackoffMs, jitter, medianScale, rateLimit } = policy;
  checkNumbers<RetryPolicy>('', policy, {
    maxRetries: { min: 0, max: 100, integer: true },
    initialBackoffMs: { min: 0 },
    maxBackoffMs: { min: 0, max: MAX_TIMER_MS },
    minBackoffMs: { min: 0 },
    // Below 1 the waits would shrink, so that a longer failure is hit harder.
    backoffMultiplier: { min: 1 },
  });
  checkOrder('initialBackoffMs', initialBackoffMs, 'maxBackoffMs', maxBackoffMs);
  checkOrder('minBackoffMs', minBackoffMs, 'initialBackoffMs', initialBackoffMs);
  checkChoice('jitter', jitter, ['none', 'full']);
  if (medianScale !== undefined) {
    checkNumber('medianScale', medianScale, { above: 0 });
    if (jitter !== 'full') refuse('medianScale', 'needs jitter: full');
  }
  checkChoice('rateLimit.onLimit', rateLimit?.onLimit, ['surface', 'wait']);
  if (rateLimit.onLimit === 'wait') {
    checkNumber('rateLimit.maxWaitMs', rateLimit.maxWaitMs, { min: 0, max: MAX_TIMER_MS });
    checkChoice('rateLimit.withoutHint', rateLimit.withoutHint, ['backoff', 'surface']);
  }
}
