/** Values that stay valid for a while. The oldest entries make room for new ones. */
export class TtlCache<T> {
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>();

  constructor(now: () => number, ttlMs: number, maxEntries: number) {
    this.#now = now;
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#now() < entry.until ? entry.value : undefined;
  }

  set(key: string, value: T, ttlMs = this.#ttlMs): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#now() + ttlMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
  }
}
