import { seededRandom } from '@toolkeel/kernel/testing';
import { quantileOf, sorted } from './quantile.js';

export interface RatioOptions {
  readonly q: number;
  readonly seed: number;
  readonly blocks?: number;
  readonly resamples?: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Where the quantile of a resample can fall: this far around its place, in shares. */
const REACH = 0.035;
const EDGES = 512;

/**
 * The 95 % interval of quantile(a) ÷ quantile(b), by bootstrap over blocks of consecutive calls.
 *
 * Blocks, because neighbouring calls are not independent: they share a budget, a breaker and what
 * is known of the upstream. The same blocks are drawn for both sides, because call n met the same
 * luck in both. Each block is counted once, so that a resample adds up counts and never sorts.
 */
export function ratioInterval(a: Float64Array, b: Float64Array, options: RatioOptions): Interval {
  const { q, seed, blocks = 200, resamples = 400 } = options;
  const count = Math.min(blocks, a.length);
  const left = new BlockCounts(a, q, count);
  const right = new BlockCounts(b, q, count);
  const random = seededRandom(seed);
  const chosen = new Uint32Array(count);
  const ratios = Float64Array.from({ length: resamples }, () => {
    for (let i = 0; i < count; i++) chosen[i] = Math.floor(random() * count);
    return left.quantile(chosen) / right.quantile(chosen);
  });
  const inOrder = sorted(ratios);
  return { low: quantileOf(inOrder, 0.025), high: quantileOf(inOrder, 0.975) };
}

/** For each block, how many of its values do not lie above each of some edges around the quantile. */
class BlockCounts {
  readonly #q: number;
  readonly #edges: Float64Array;
  readonly #sizes: Uint32Array;
  readonly #upTo: Uint32Array;

  constructor(values: Float64Array, q: number, blocks: number) {
    const inOrder = sorted(values);
    this.#q = q;
    this.#edges = Float64Array.from({ length: EDGES }, (_, i) => {
      const share = q - REACH + (2 * REACH * i) / (EDGES - 1);
      return quantileOf(inOrder, Math.min(1, Math.max(0, share)));
    });
    this.#sizes = new Uint32Array(blocks);
    this.#upTo = new Uint32Array(blocks * EDGES);
    for (let i = 0; i < values.length; i++) this.#count(values, i);
    for (let i = 0; i < this.#upTo.length; i++) {
      if (i % EDGES > 0) this.#upTo[i]! += this.#upTo[i - 1]!;
    }
  }

  #count(values: Float64Array, i: number): void {
    const block = Math.floor((i * this.#sizes.length) / values.length);
    this.#sizes[block]! += 1;
    const edge = firstWhere(EDGES, (at) => this.#edges[at]! >= values[i]!);
    if (edge < EDGES) this.#upTo[block * EDGES + edge]! += 1;
  }

  /** The quantile of the values of the chosen blocks taken together. */
  quantile(chosen: Uint32Array): number {
    let wanted = 0;
    for (const block of chosen) wanted += this.#q * this.#sizes[block]!;
    const edge = firstWhere(EDGES - 1, (at) => {
      let seen = 0;
      for (const block of chosen) seen += this.#upTo[block * EDGES + at]!;
      return seen >= wanted;
    });
    return this.#edges[edge]!;
  }
}

/** The first place for which something holds that holds for all after it; `length` if for none. */
function firstWhere(length: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
