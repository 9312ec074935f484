/** A map of bounded size: `set` moves the entry to the end and evicts the oldest one. */
export class BoundedMap<V> extends Map<string, V> {
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#maxEntries && oldest !== undefined) this.delete(oldest);
    return this;
  }
}

/** A bounded cache whose entries expire. */
export class TtlCache<V> {
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #entries: BoundedMap<{ readonly value: V; readonly expiresAt: number }>;

  constructor(now: () => number, ttlMs: number, maxEntries: number) {
    this.#now = now;
    this.#ttlMs = ttlMs;
    this.#entries = new BoundedMap(maxEntries);
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#now() < entry.expiresAt ? entry.value : undefined;
  }

  set(key: string, value: V, ttlMs = this.#ttlMs): void {
    this.#entries.set(key, { value, expiresAt: this.#now() + ttlMs });
  }
}
