import { draw, exponential } from './draws.js';

/** A time for which the upstream is down. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/**
 * What being down means for a request. `turnsAway`: a request that arrives fails fast. `instant`: it
 * fails in no time at all. `crashes`: requests in flight break too. `hangs`: neither is ever answered.
 */
export type OutageKind = 'turnsAway' | 'instant' | 'crashes' | 'hangs';

/** Outages that come and go at random, so that the upstream is down for a share of the time. */
export function randomOutages(options: {
  readonly seed: number;
  readonly meanMs: number;
  readonly share: number;
  readonly untilMs: number;
}): readonly Outage[] {
  const { seed, meanMs, share, untilMs } = options;
  const meanUpMs = (meanMs * (1 - share)) / share;
  const outages: Outage[] = [];
  let at = 0;
  for (let n = 0; at < untilMs; n++) {
    const from = at + exponential(draw(seed, 'outage', n, 0), meanUpMs);
    at = from + exponential(draw(seed, 'outage', n, 1), meanMs);
    outages.push({ from, to: at });
  }
  return outages;
}

/** Says when the upstream is down. Asked in the order of time. */
export class OutageWatch {
  readonly #outages: readonly Outage[];
  #next = 0;

  constructor(outages: readonly Outage[]) {
    this.#outages = outages;
  }

  /** The outage that is or comes next. */
  #at(now: number): Outage | undefined {
    while (this.#next < this.#outages.length && this.#outages[this.#next]!.to <= now) this.#next++;
    return this.#outages[this.#next];
  }

  isDown(now: number): boolean {
    return this.nextFrom(now) <= now;
  }

  /** When the next outage begins, or the present one has begun. */
  nextFrom(now: number): number {
    return this.#at(now)?.from ?? Infinity;
  }
}
