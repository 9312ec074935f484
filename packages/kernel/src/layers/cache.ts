import { checkNumber, refuse } from '../decide/validate.js';
import type { CallFn, Layer, Plan } from '../engine/layer.js';
import { wrapping } from '../engine/pipeline.js';
import type { Effect } from '../fault.js';
import type { KeyOf } from './singleflight.js';

export interface CacheOptions<I> {
  readonly keyOf: KeyOf<I>;
  readonly ttlMs: number;
  /** The least recently used entry makes room. */
  readonly maxEntries: number;
}

interface Entry {
  readonly value: unknown;
  readonly freshUntil: number;
}

interface Asking {
  readonly generation: number;
  callers: number;
}

/**
 * Remembers answers for a while. Only reads, only successes: a failure is never written, so that
 * the next caller gets a real try. Values are shared as they are, so treat them as read-only.
 */
export class Cache<I> implements Layer {
  readonly name = 'cache';
  readonly #options: CacheOptions<I>;
  readonly #entries = new Map<string, Entry>();
  /** Counts how often something was taken out. */
  #generation = 0;
  /** The keys that are being asked for, and when the first of those who ask did so. */
  readonly #asking = new Map<string, Asking>();

  constructor(options: CacheOptions<I>) {
    checkNumber('cache.ttlMs', options.ttlMs, { above: 0 });
    checkNumber('cache.maxEntries', options.maxEntries, { min: 1, integer: true });
    this.#options = options;
    wrapping(this, { wrapCall: (next, plan) => this.#lookUpFirst(next, plan) });
  }

  get size(): number {
    return this.#entries.size;
  }

  accepts(effect: Effect): void {
    if (effect !== 'read')
      refuse('cache', `answers without acting, so it is for 'read' only`, effect);
  }

  #lookUpFirst(next: CallFn, plan: Plan): CallFn {
    return async (input, options) => {
      const key = this.#options.keyOf(input as I);
      if (key === undefined) return next(input, options);
      const hit = options?.signal?.aborted ? undefined : this.#lookUp(key, plan.clock.now());
      if (hit !== undefined) return { ok: true, value: hit.value };
      const asking = this.#beginAsking(key);
      const outcome = await next(input, options);
      if (--asking.callers === 0) this.#asking.delete(key);
      // What was asked before the cache was emptied may be what it was emptied of. Whoever asks
      // later may be given the same answer, where equal calls at the same time are made one.
      if (outcome.ok && asking.generation === this.#generation)
        this.#write(key, outcome.value, plan.clock.now());
      return outcome;
    };
  }

  #beginAsking(key: string): Asking {
    const asking = this.#asking.get(key) ?? { generation: this.#generation, callers: 0 };
    asking.callers++;
    this.#asking.set(key, asking);
    return asking;
  }

  delete(key: string): void {
    this.#generation++;
    this.#entries.delete(key);
  }

  clear(): void {
    this.#generation++;
    this.#entries.clear();
  }

  #lookUp(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.freshUntil <= now) return undefined;
    // A Map keeps the order of writing: writing it anew makes it the most recently used.
    this.#entries.set(key, entry);
    return entry;
  }

  #write(key: string, value: unknown, now: number): void {
    this.#entries.delete(key);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#options.maxEntries) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, freshUntil: now + this.#options.ttlMs });
  }
}

export function cache<I>(options: CacheOptions<I>): Cache<I> {
  return new Cache(options);
}
