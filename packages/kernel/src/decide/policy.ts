import { checkBreaker, type BreakerOptions } from '../layers/breaker.js';
import { checkBudget, type BudgetOptions } from '../layers/budget.js';
import { checkHedge, type HedgeOptions } from '../layers/hedge.js';
import { completeRetryPolicy, type RetryPolicy } from './retry-policy.js';
import { checkNumber, checkOrder, MAX_TIMER_MS, refuse } from './validate.js';

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
