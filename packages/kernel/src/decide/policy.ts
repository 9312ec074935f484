import type { BreakerOptions } from '../layers/breaker.js';
import type { BudgetOptions } from '../layers/budget.js';
import type { HedgeOptions } from '../layers/hedge.js';
import { checkBreaker, checkBudget, checkHedge, checkNumber, refuse } from './validate.js';

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
   * `initialBackoffMs`): a fast upstream is retried fast, a slow one slowly.
   */
  readonly medianScale?: number;
  readonly rateLimit: RateLimitRule;
}

/** A retry policy and the clocks, budget and breaker around it. Presets are of this type. */
export interface Policy extends RetryPolicy {
  /** The whole call, waits and retries included. */
  readonly callTimeoutMs?: number;
  /** One attempt. */
  readonly attemptTimeoutMs?: number;
  /** One attempt without progress. */
  readonly idleTimeoutMs?: number;
  readonly budget?: BudgetOptions;
  readonly breaker?: BreakerOptions;
  readonly hedge?: HedgeOptions;
}

const defaults: RetryPolicy = {
  maxRetries: 3,
  initialBackoffMs: 1000,
  maxBackoffMs: 60_000,
  backoffMultiplier: 2,
  jitter: 'none',
  minBackoffMs: 0,
  rateLimit: { onLimit: 'wait', maxWaitMs: 60_000, withoutHint: 'backoff' },
};

const known = new Set([
  ...Object.keys(defaults),
  'medianScale',
  'callTimeoutMs',
  'attemptTimeoutMs',
  'idleTimeoutMs',
  'budget',
  'breaker',
  'hedge',
]);

const checked = new WeakSet<object>();

/**
 * Completes, checks and freezes a policy. A number that is negative, not finite or at odds with
 * another is refused here, by name, and not when the first call fails.
 *
 * @example
 * const patient = definePolicy({ maxRetries: 5, maxBackoffMs: 30_000, callTimeoutMs: 120_000 });
 */
export function definePolicy(options: Partial<Policy> = {}): Policy {
  if (typeof options !== 'object' || options === null) {
    return refuse('policy', 'must be an object', options);
  }
  if (checked.has(options)) return options as Policy;
  for (const key of Object.keys(options)) {
    if (!known.has(key)) refuse(key, `is not a field of a policy (${[...known].join(', ')})`);
  }
  const policy: Policy = Object.freeze({ ...defaults, ...withoutUndefined(options) });
  checkRetry(policy);
  checkClocks(policy);
  if (policy.budget) checkBudget(policy.budget);
  if (policy.breaker) checkBreaker(policy.breaker);
  if (policy.hedge) checkHedge(policy.hedge);
  checked.add(policy);
  return policy;
}

function withoutUndefined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}

function checkRetry(policy: RetryPolicy): void {
  checkNumber('maxRetries', policy.maxRetries, { min: 0, max: 100, integer: true });
  checkNumber('initialBackoffMs', policy.initialBackoffMs, { min: 0 });
  checkNumber('maxBackoffMs', policy.maxBackoffMs, { min: 0 });
  checkNumber('minBackoffMs', policy.minBackoffMs, { min: 0 });
  // Below 1 the waits would shrink, so that a longer failure is hit harder.
  checkNumber('backoffMultiplier', policy.backoffMultiplier, { min: 1 });
  if (policy.initialBackoffMs > policy.maxBackoffMs) {
    refuse('initialBackoffMs', `is above maxBackoffMs (${policy.maxBackoffMs})`, policy.initialBackoffMs);
  }
  if (policy.minBackoffMs > policy.initialBackoffMs) {
    refuse('minBackoffMs', `is above initialBackoffMs (${policy.initialBackoffMs})`, policy.minBackoffMs);
  }
  if (policy.jitter !== 'none' && policy.jitter !== 'full') {
    refuse('jitter', "must be 'none' or 'full'", policy.jitter);
  }
  if (policy.medianScale !== undefined) {
    checkNumber('medianScale', policy.medianScale, { above: 0 });
    if (policy.jitter !== 'full') {
      refuse('medianScale', "scales the jitter, so it needs jitter: 'full'", policy.medianScale);
    }
  }
  checkRateLimitRule(policy.rateLimit);
}

function checkRateLimitRule(rule: RateLimitRule): void {
  if (typeof rule !== 'object' || rule === null) {
    return refuse('rateLimit', 'must be an object', rule);
  }
  if (rule.onLimit === 'surface') return;
  if (rule.onLimit !== 'wait') refuse('rateLimit.onLimit', "must be 'surface' or 'wait'", rule);
  checkNumber('rateLimit.maxWaitMs', rule.maxWaitMs, { min: 0 });
  if (rule.withoutHint !== 'backoff' && rule.withoutHint !== 'surface') {
    refuse('rateLimit.withoutHint', "must be 'backoff' or 'surface'", rule.withoutHint);
  }
}

function checkClocks(policy: Policy): void {
  const { callTimeoutMs, attemptTimeoutMs, idleTimeoutMs } = policy;
  for (const [field, value] of Object.entries({ callTimeoutMs, attemptTimeoutMs, idleTimeoutMs })) {
    if (value !== undefined) checkNumber(field, value, { above: 0, max: MAX_TIMER_MS });
  }
  const outer = attemptTimeoutMs ?? callTimeoutMs;
  if (callTimeoutMs !== undefined && attemptTimeoutMs !== undefined && attemptTimeoutMs > callTimeoutMs) {
    refuse('attemptTimeoutMs', `is above callTimeoutMs (${callTimeoutMs})`, attemptTimeoutMs);
  }
  if (idleTimeoutMs !== undefined && outer !== undefined && idleTimeoutMs > outer) {
    refuse('idleTimeoutMs', `is above the clock around it (${outer})`, idleTimeoutMs);
  }
}

/** The longest delay that a JavaScript timer can hold; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;
