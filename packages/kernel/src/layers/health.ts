import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer, LoopSettings } from '../engine/layer.js';
import { isPermanent, type Fault } from '../fault.js';
import { retriesQuickly } from '../decide/backoff.js';
import { checkNumbers } from '../decide/validate.js';

export interface HealthOptions {
  /** How many successes a route remembers. */
  readonly samples?: number;
  /** Assumed for an upstream that has not answered yet. */
  readonly coldMedianMs?: number;
  /** Above this share of failing attempts, the latency of the few that succeed is no guide. */
  readonly failingShare?: number;
  /** About how many of the last attempts count in that share. */
  readonly recent?: number;
  /** Above this share of answers that a quick retry brought, every retry is quick. */
  readonly isolatedShare?: number;
}

/** With fewer samples than this the next wider scope knows better: route, host, constant. */
const ENOUGH = 3;
/** A retry is quick if its wait is shorter than this: too short to outlast a burst of faults. */
const QUICK_MS = 50;
/** About how many of the last answers count in the share that quick retries brought. */
const RECENT_ANSWERS = 64;
/** Routes that are remembered one by one; the rest share what the host knows. */
const MAX_ROUTES = 256;

/** What an upstream has lately been like: how long its answers take, how many attempts fail. */
export class Health implements Layer {
  readonly name = 'health';
  readonly loop: LoopSettings = { health: this };
  readonly #host: Ring;
  readonly #routes = new Map<string, Ring>();
  readonly #samples: number;
  readonly #coldMedianMs: number;
  readonly #limits: { readonly failingShare: number; readonly isolatedShare: number };
  /** Weight of the newest attempt in the share of failing ones. */
  readonly #newest: number;
  #failures = 0;
  #answers = 0;
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

  retrying(call: Call, afterMs: number): void {
    if (afterMs < QUICK_MS) this.#quick.add(call);
    else this.#quick.delete(call);
  }

  after(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (fault === undefined) {
      const recovered = attempt.index > 0 && this.#quick.has(attempt.call) ? 1 : 0;
      // A plain mean at first, so that a cold start learns from its first few faults.
      if (this.#answers < RECENT_ANSWERS) this.#answers++;
      this.#recovered += (recovered - this.#recovered) / this.#answers;
      this.#failures -= this.#failures * this.#newest;
      this.#record(attempt.call.route, now - attempt.startedAt);
    } else if (isFailure(fault)) {
      this.#failures += (1 - this.#failures) * this.#newest;
    }
  }

  /**
   * The median latency to scale the backoff of a retry (0-indexed) by. None where a quick retry is
   * unlikely to help: short waits pay off against isolated faults and are wasted within a burst.
   */
  medianFor(route: string | undefined, retry = 0): number | undefined {
    const recent = { failureShare: this.#failures, recoveredShare: this.#recovered };
    if (!retriesQuickly(retry, recent, this.#limits)) return undefined;
    return this.#knowing(route, ENOUGH)?.quantile(0.5) ?? this.#coldMedianMs;
  }

  quantileFor(route: string | undefined, q: number, enough: number): number | undefined {
    return this.#knowing(route, enough)?.quantile(q);
  }

  /** The share of recent attempts that failed, newest counting most. */
  get failureShare(): number {
    return this.#failures;
  }

  /**
   * A loser of a hedge that had already taken longer than most. Leaving it out would make the
   * upstream look faster than it is, and the next hedge fire earlier.
   */
  recordSlow(route: string | undefined, elapsedMs: number): void {
    this.#record(route, elapsedMs);
  }

  #record(route: string | undefined, elapsedMs: number): void {
    this.#host.add(elapsedMs);
    if (route === undefined) return;
    let ring = this.#routes.get(route);
    if (ring === undefined) {
      if (this.#routes.size >= MAX_ROUTES) return;
      this.#routes.set(route, (ring = new Ring(this.#samples)));
    }
    ring.add(elapsedMs);
  }

  #knowing(route: string | undefined, enough: number): Ring | undefined {
    const ring = route === undefined ? undefined : this.#routes.get(route);
    if (ring !== undefined && ring.count >= enough) return ring;
    return this.#host.count >= enough ? this.#host : undefined;
  }
}

const failures: readonly unknown[] = ['connect', 'network', 'timeout', 'server', 'bad_response'];

/**
 * Does this fault speak against the upstream's health? Rate limits and the caller's own mistakes do
 * not, nor does what the upstream can only answer in the same way again.
 */
export function isFailure(fault: Fault | undefined): boolean {
  return !!fault && failures.includes(fault.kind) && !isPermanent(fault);
}

export function health(options: HealthOptions = {}): Health {
  return new Health(options);
}

/** The last few latencies, in no order. Written on every success, looked through only when asked. */
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

  /** The value below which a share `q` of the samples lies; undefined while there are none. */
  quantile(q: number): number | undefined {
    const last = this.#samples.length - 1;
    if (last < 0) return undefined;
    const place = q * last;
    const below = Math.floor(place);
    const copy = this.#samples.slice();
    const low = select(copy, below);
    if (below === last) return low;
    // What is left to the right is no smaller: the next in order is its smallest.
    let high = Infinity;
    for (let i = below + 1; i <= last; i++) high = Math.min(high, copy[i]!);
    return low + (high - low) * (place - below);
  }
}

/**
 * The k-th smallest (C. A. R. Hoare's find). Leaves nothing greater on its left and nothing smaller
 * on its right. A hedge asks on every call, and sorting would cost it ten times as much.
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
