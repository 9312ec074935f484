import { checkNumber, refuse } from '../decide/validate.js';
import type { CallFn, Layer, Plan } from '../engine/layer.js';
import { wrapping } from '../engine/pipeline.js';
import type { Effect } from '../fault.js';
import type { KeyOf } from './singleflight.js';

export interface CacheOptions<I> {
  readonly keyOf: KeyOf<I>;
  readonly ttlMs: number;
  /** The least recently used entry is evicted. */
  readonly maxEntries: number;
}

interface Entry {
  readonly value: unknown;
  readonly freshUntil: number;
}

/** A key that is being requested, and the cache generation at the first request. */
interface PendingKey {
  readonly generation: number;
  callers: number;
}

/**
 * Caches successful results of `read` calls. Failures are not cached. Values are shared by reference:
 * treat them as read-only.
 */
export class Cache<I> implements Layer {
  readonly name = 'cache';
  readonly #options: CacheOptions<I>;
  readonly #entries = new Map<string, Entry>();
  /** Incremented by each `delete` and `clear`. */
  #generation = 0;
  readonly #pending = new Map<string, PendingKey>();

  constructor(options: CacheOptions<I>) {
    checkNumber('cache.ttlMs', options.ttlMs, { above: 0 });
    checkNumber('cache.maxEntries', options.maxEntries, { min: 1, integer: true });
    this.#options = options;
    wrapping(this, { wrapCall: (next, plan) => this.#lookUpFirst(next, plan) });
  }

  get size(): number {
    return this.#entries.size;
  }

  check(effect: Effect): void {
    if (effect !== 'read')
      refuse('cache', `answers without acting, so it supports effect 'read' only`, effect);
  }

  #lookUpFirst(next: CallFn, plan: Plan): CallFn {
    return async (input, options) => {
      const key = this.#options.keyOf(input as I);
      if (key === undefined) return next(input, options);
      const hit = options?.signal?.aborted ? undefined : this.#lookUp(key, plan.clock.now());
      if (hit !== undefined) return { ok: true, value: hit.value };
      const pending = this.#addCaller(key);
      const outcome = await next(input, options);
      if (--pending.callers === 0) this.#pending.delete(key);
      // A request from before an invalidation may return stale data. Callers that joined it later,
      // through singleflight, share its generation.
      if (outcome.ok && pending.generation === this.#generation)
        this.#write(key, outcome.value, plan.clock.now());
      return outcome;
    };
  }

  #addCaller(key: string): PendingKey {
    const pending = this.#pending.get(key) ?? { generation: this.#generation, callers: 0 };
    pending.callers++;
    this.#pending.set(key, pending);
    return pending;
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
    // A Map keeps insertion order: reinserting makes the entry the most recently used.
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
