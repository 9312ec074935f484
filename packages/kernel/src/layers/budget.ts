import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { Fault } from '../fault.js';
import { checkNumbers } from '../decide/validate.js';

export type BudgetOptions = BucketOptions;

export const defaultBudget: BudgetOptions = { capacity: 60, perSuccess: 0.5, perSecond: 0 };

/**
 * How many retries an upstream can be asked to bear. Each costs a token before its wait begins;
 * successes bring them back, so that an outage is met with few retries and a single fault with
 * enough.
 */
export class Budget implements Layer {
  readonly name = 'budget';
  readonly #bucket: TokenBucket;

  constructor(options: BudgetOptions) {
    checkBudget(options);
    this.#bucket = new TokenBucket(options);
  }

  get tokens(): number {
    return this.#bucket.tokens;
  }

  permit(_call: Call, now: number): boolean {
    return this.#bucket.take(now);
  }

  after(_attempt: Attempt, fault: Fault | undefined): void {
    if (fault === undefined) this.#bucket.earn();
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

interface BucketOptions {
  readonly capacity: number;
  readonly perSuccess: number;
  /** Tokens that come with time alone. */
  readonly perSecond: number;
}

/** Tokens that successes bring and retries spend. Starts full. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perSuccess: number;
  readonly #perMs: number;
  #tokens: number;
  #at = NaN;

  constructor({ capacity, perSuccess, perSecond }: BucketOptions) {
    this.#capacity = capacity;
    this.#perSuccess = perSuccess;
    this.#perMs = perSecond / 1000;
    this.#tokens = capacity;
  }

  get tokens(): number {
    return this.#tokens;
  }

  earn(): void {
    const tokens = this.#tokens + this.#perSuccess;
    this.#tokens = tokens > this.#capacity ? this.#capacity : tokens;
  }

  /** Takes one token, if there is a whole one. */
  take(now: number): boolean {
    if (this.#perMs > 0 && now > this.#at) {
      this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#at) * this.#perMs);
    }
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
