import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { Fault } from '../fault.js';
import { checkNumbers } from '../decide/validate.js';

export interface BudgetOptions {
  readonly capacity: number;
  readonly perSuccess: number;
  /** Tokens added per second, regardless of successes. */
  readonly perSecond: number;
}

export const defaultBudget: BudgetOptions = { capacity: 60, perSuccess: 0.5, perSecond: 0 };

/** A token bucket that starts full. Successes add tokens; retries and hedges take them. */
export class TokenBucket {
  readonly #options: BudgetOptions;
  #tokens: number;
  #refilledAt = NaN;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#tokens = options.capacity;
  }

  get tokens(): number {
    return this.#tokens;
  }

  earn(): void {
    this.#add(this.#options.perSuccess);
  }

  /** Takes one token; false if there is no whole one. */
  take(now: number): boolean {
    if (now > this.#refilledAt) {
      this.#add(((now - this.#refilledAt) / 1000) * this.#options.perSecond);
    }
    this.#refilledAt = now;
    return this.#tokens >= 1 && this.#tokens-- >= 1;
  }

  #add(tokens: number): void {
    this.#tokens = Math.min(this.#options.capacity, this.#tokens + tokens);
  }
}

/**
 * Retry budget of an upstream. Each retry takes a token before its backoff and successes add tokens,
 * so that retries are plentiful for single faults and scarce in an outage.
 */
export class Budget extends TokenBucket implements Layer {
  readonly name = 'budget';

  constructor(options: BudgetOptions) {
    checkBudget(options);
    super(options);
  }

  allowRetry(_call: Call, now: number): boolean {
    return this.take(now);
  }

  afterAttempt(_attempt: Attempt, fault: Fault | undefined): void {
    if (!fault) this.earn();
  }
}

export function checkBudget(options: BudgetOptions): void {
  checkNumbers('budget.', options, {
    capacity: { above: 0 },
    perSuccess: { min: 0 },
    perSecond: { min: 0 },
  });
}

export function budget(options: Partial<BudgetOptions> = {}): Budget {
  return new Budget({ ...defaultBudget, ...options });
}
