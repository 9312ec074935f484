export interface BucketOptions {
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
