import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer, LoopSettings } from '../engine/layer.js';
import { isPermanent, type Fault } from '../fault.js';
import { retriesQuickly } from '../decide/backoff.js';
import { checkNumbers } from '../decide/validate.js';

export interface HealthOptions {
  /** Latency samples that are kept per route. */
  readonly samples?: number;
  /** Assumed median of an upstream without samples. */
  readonly coldMedianMs?: number;
  /** Failure share above which the latency of successes is not used. */
  readonly failingShare?: number;
  /** Approximate number of recent attempts in the failure share. */
  readonly recent?: number;
  /** Share of successes after a quick retry above which every retry is quick. */
  readonly isolatedShare?: number;
}

/** Samples that a median needs; with fewer, the host's samples or the constant are used. */
const MIN_SAMPLES = 3;
/** A retry with a shorter delay is quick: too short to outlast a burst of faults. */
const QUICK_MS = 50;
/** Approximate number of recent successes in the recovered share. */
const RECENT_SUCCESSES = 64;
/** Routes with samples of their own; further routes use the host's. */
const MAX_ROUTES = 256;

/** Recent latency and failure share of an upstream. */
export class Health implements Layer {
  readonly name = 'health';
  readonly loop: LoopSettings = { health: this };
  readonly #host: Ring;
  readonly #routes = new Map<string, Ring>();
  readonly #samples: number;
  readonly #coldMedianMs: number;
  readonly #limits: { readonly failingShare: number; readonly isolatedShare: number };
  /** Weight of the newest attempt in the failure share. */
  readonly #newest: number;
  #failures = 0;
  #successes = 0;
  #recovered = 0;
  /** Calls whose last retry was quick. */
  readonly #quick = new WeakSet<Call>();

  constructor(options: HealthOptions = {}) {
    const { samples = 32, coldMedianMs = 50, failingShare = 0.4, recent = 16 } = options;
    const { isolatedShare = 0.08 } = options;
    checkNumbers(
      'health.',
      { samples, coldMedianMs, failingShare, recent, isolatedShare },
      {
        samples: { min: 1, max: 10_000, integer: true },
        coldMedianMs: { min: 0 },
        failingShare: { min: 0, max: 1 },
        recent: { min: 1 },
        isolatedShare: { min: 0, max: 1 },
      },
    );
    this.#samples = samples;
    this.#coldMedianMs = coldMedianMs;
    this.#limits = { failingShare, isolatedShare };
    this.#newest = 1 / recent;
    this.#host = new Ring(samples);
  }

  onRetry(call: Call, afterMs: number): void {
    if (afterMs < QUICK_MS) this.#quick.add(call);
    else this.#quick.delete(call);
  }

  afterAttempt(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (fault === undefined) {
      const recovered = attempt.index > 0 && this.#quick.has(attempt.call) ? 1 : 0;
      // Starts as a plain mean, so that the first few results count fully.
      if (this.#successes < RECENT_SUCCESSES) this.#successes++;
      this.#recovered += (recovered - this.#recovered) / this.#successes;
      this.#failures -= this.#failures * this.#newest;
      this.record(attempt.call.route, elapsedOf(attempt, now));
    } else if (isFailure(fault)) {
      this.#failures += (1 - this.#failures) * this.#newest;
    }
  }

  /**
   * The median latency that scales the backoff of a retry (0-indexed). Undefined if a quick retry is
   * unlikely to succeed: quick retries fix isolated faults and are wasted within a burst.
   */
  medianFor(route: string | undefined, retry = 0): number | undefined {
    const recent = { failureShare: this.#failures, recoveredShare: this.#recovered };
    if (!retriesQuickly(retry, recent, this.#limits)) return undefined;
    return this.#samplesFor(route, MIN_SAMPLES)?.quantile(0.5) ?? this.#coldMedianMs;
  }

  quantileFor(route: string | undefined, q: number, minSamples: number): number | undefined {
    return this.#samplesFor(route, minSamples)?.quantile(q);
  }

  /** The share of recent attempts that failed, weighted towards the newest. */
  get failureShare(): number {
    return this.#failures;
  }

  /**
   * Records a latency. Hedging also records slow losers: without them the upstream would look faster
   * than it is, and hedges would be sent ever earlier.
   */
  record(route: string | undefined, elapsedMs: number): void {
    this.#host.add(elapsedMs);
    if (route === undefined) return;
    let ring = this.#routes.get(route);
    if (ring === undefined) {
      if (this.#routes.size >= MAX_ROUTES) return;
      this.#routes.set(route, (ring = new Ring(this.#samples)));
    }
    ring.add(elapsedMs);
  }

  #samplesFor(route: string | undefined, minSamples: number): Ring | undefined {
    const ring = route === undefined ? undefined : this.#routes.get(route);
    if (ring !== undefined && ring.count >= minSamples) return ring;
    return this.#host.count >= minSamples ? this.#host : undefined;
  }
}

/** The time that an attempt took of the upstream: none if it still waits for reasons of its own. */
export function elapsedOf({ startedAt }: Attempt, now: number): number {
  return Math.max(0, now - startedAt);
}

const failures: readonly unknown[] = ['connect', 'network', 'timeout', 'server', 'bad_response'];

/**
 * Whether a fault counts against the upstream's health. Rate limits, invalid requests and permanent
 * faults do not.
 */
export function isFailure(fault: Fault | undefined): fault is Fault {
  return !!fault && failures.includes(fault.kind) && !isPermanent(fault);
}

export function health(options: HealthOptions = {}): Health {
  return new Health(options);
}

/** A ring buffer of recent latencies. */
export class Ring {
  readonly #size: number;
  readonly #samples: number[] = [];
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get count(): number {
    return this.#samples.length;
  }

  add(sample: number): void {
    this.#samples[this.#next] = sample;
    this.#next = this.#next + 1 === this.#size ? 0 : this.#next + 1;
  }

  /** The `q` quantile of the samples, interpolated; undefined if there are none. */
  quantile(q: number): number | undefined {
    const last = this.#samples.length - 1;
    if (last < 0) return undefined;
    const place = q * last;
    const below = Math.floor(place);
    const copy = this.#samples.slice();
    const low = select(copy, below);
    if (below === last) return low;
    // After `select` the next larger sample is the minimum of the right part.
    let high = Infinity;
    for (let i = below + 1; i <= last; i++) high = Math.min(high, copy[i]!);
    return low + (high - low) * (place - below);
  }
}

/**
 * The k-th smallest value (Hoare's quickselect). Partitions the array around it. Hedging needs a
 * quantile on every call, and sorting takes ten times as long.
 */
function select(values: number[], k: number): number {
  let left = 0;
  let right = values.length - 1;
  while (left < right) {
    const pivot = values[k]!;
    let i = left;
    let j = right;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i <= j) {
        const swapped = values[i]!;
        values[i++] = values[j]!;
        values[j--] = swapped;
      }
    }
    if (j < k) left = i;
    if (k < i) right = j;
  }
  return values[k]!;
}
