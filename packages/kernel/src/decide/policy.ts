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

/** What to do when the upstream rejects a request because of a rate limit. */
export type RateLimitRule =
  /** Return the rate limit to the caller immediately, with the time to wait. */
  | { readonly onLimit: 'surface' }
  /** Wait as long as the upstream asks, up to `maxWaitMs` and the deadline; otherwise surface it. */
  | {
      readonly onLimit: 'wait';
      readonly maxWaitMs: number;
      /** What to do if the upstream gave no time to wait. */
      readonly withoutHint: 'backoff' | 'surface';
    };

/** Number and timing of retries. `maxRetries` does not include the first attempt. */
export interface RetryPolicy {
  readonly maxRetries: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly backoffMultiplier: number;
  /** `full`: uniform between `minBackoffMs` and the backoff. `none`: the backoff itself. */
  readonly jitter: 'none' | 'full';
  readonly minBackoffMs: number;
  /**
   * Caps the first backoff at this multiple of the observed median latency, so that a fast upstream is
   * retried sooner. Without a usable median, retries after the first wait at least half of their
   * backoff, to outlast a burst of faults.
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

/** A retry policy with timeouts, retry budget, breaker and hedging. Presets have this type. */
export interface ResiliencePolicy extends RetryPolicy {
  /** Limit of the whole call, backoffs and retries included. */
  readonly callTimeoutMs?: number;
  /** Limit of one attempt. */
  readonly attemptTimeoutMs?: number;
  /** Limit of the time without progress in one attempt. */
  readonly idleTimeoutMs?: number;
  /** `false` disables it. Omitted: the default. */
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
 * Completes, validates and freezes a policy. Throws a RangeError that names the field if a value is
 * unknown, out of range or inconsistent with another.
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
  const policy: ResiliencePolicy = frozenCopy(completeRetryPolicy(options));
  checkTimeouts(policy);
  if (policy.budget) checkBudget(policy.budget);
  if (policy.breaker) checkBreaker(policy.breaker);
  if (policy.hedge) checkHedge(policy.hedge);
  checked.add(policy);
  return policy;
}

/** A deeply frozen copy. */
function frozenCopy<T extends object>(value: T): T {
  const parts = Object.entries(value).map(([key, part]: [string, unknown]) => [
    key,
    typeof part === 'object' && part !== null ? frozenCopy(part) : part,
  ]);
  return Object.freeze(Object.fromEntries(parts)) as T;
}

function checkTimeouts({ callTimeoutMs, attemptTimeoutMs, idleTimeoutMs }: ResiliencePolicy): void {
  const timeouts = { callTimeoutMs, attemptTimeoutMs, idleTimeoutMs };
  for (const [field, value] of Object.entries(timeouts)) {
    if (value !== undefined) checkNumber(field, value, { above: 0, max: MAX_TIMER_MS });
  }
  // An inner timeout longer than the outer one could never fire, so it is a mistake.
  const call = callTimeoutMs ?? Infinity;
  const attempt = attemptTimeoutMs ?? call;
  checkOrder('attemptTimeoutMs', attempt, 'callTimeoutMs', call);
  checkOrder('idleTimeoutMs', idleTimeoutMs ?? 0, 'attemptTimeoutMs', attempt);
}

/** Completes and validates the retry settings. Ignores other fields. */
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
    // Below 1 the delays would shrink with each retry.
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
