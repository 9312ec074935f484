import { seededRandom } from '@toolkeel/kernel/testing';

/** The quantile `q`, with linear interpolation between neighbours. */
export function quantileOf(inOrder: ArrayLike<number>, q: number): number {
  const position = q * (inOrder.length - 1);
  const below = Math.floor(position);
  const low = inOrder[below] ?? Number.NaN;
  const high = inOrder[Math.min(below + 1, inOrder.length - 1)] ?? Number.NaN;
  return low + (high - low) * (position - below);
}

export function p95Of(values: Float64Array): number {
  return quantileOf(values.toSorted(), 0.95);
}

/**
 * The lowest share of successes that chance explains: the expected share less this many standard
 * deviations. `chances` holds the success probability of each call; if all are p, this is
 * p − deviations × √(p (1 − p) ÷ n).
 */
export function lowestExpected(chances: readonly number[], deviations: number): number {
  const count = chances.length;
  const expected = chances.reduce((sum, chance) => sum + chance, 0) / count;
  const variance = chances.reduce((sum, chance) => sum + chance * (1 - chance), 0);
  return expected - (deviations * Math.sqrt(variance)) / count;
}

/** A lognormal latency distribution, given by its p95. */
export interface Lognormal {
  readonly p95Ms: number;
  /** The standard deviation of the logarithm. */
  readonly sigma: number;
}

/** The 95th percentile of the standard normal distribution. */
const Z95 = 1.6448536269514722;

/** The quantile `u` of the distribution. */
export function lognormalQuantile({ p95Ms, sigma }: Lognormal, u: number): number {
  return p95Ms * Math.exp(sigma * (normalQuantile(u) - Z95));
}

/**
 * The inverse of the normal distribution function, by P. J. Acklam's rational approximation:
 * relative error below 1.2e-9, smaller than the resolution of the random numbers passed to it.
 */
export function normalQuantile(u: number): number {
  if (u < LOW) return tail(Math.sqrt(-2 * Math.log(u)));
  if (u > 1 - LOW) return -tail(Math.sqrt(-2 * Math.log(1 - u)));
  const q = u - 0.5;
  const r = q * q;
  return (
    ((((((A[0] * r + A[1]) * r + A[2]) * r + A[3]) * r + A[4]) * r + A[5]) * q) /
    (((((B[0] * r + B[1]) * r + B[2]) * r + B[3]) * r + B[4]) * r + 1)
  );
}

function tail(q: number): number {
  return (
    (((((C[0] * q + C[1]) * q + C[2]) * q + C[3]) * q + C[4]) * q + C[5]) /
    ((((D[0] * q + D[1]) * q + D[2]) * q + D[3]) * q + 1)
  );
}

const LOW = 0.02425;
const A = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
] as const;
const B = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
] as const;
const C = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
  4.374664141464968, 2.938163982698783,
] as const;
const D = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416] as const;

interface RatioOptions {
  readonly q: number;
  readonly seed: number;
  readonly blocks?: number;
  readonly resamples?: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The range around the quantile in which the quantile of a resample can fall, in shares. */
const REACH = 0.035;
const EDGES = 512;

/**
 * The 95 % interval of quantile(a) ÷ quantile(b), by bootstrap over blocks of consecutive calls.
 *
 * Blocks, because neighbouring calls are not independent: they share a budget, a breaker and latency
 * samples. The same blocks are drawn for both sides, because call n met the same random numbers in
 * both. Each block is counted once, so that a resample adds counts and never sorts.
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
  const inOrder = ratios.toSorted();
  return { low: quantileOf(inOrder, 0.025), high: quantileOf(inOrder, 0.975) };
}

/** For each block, the number of values up to each of `EDGES` edges around the quantile. */
class BlockCounts {
  readonly #q: number;
  readonly #edges: Float64Array;
  readonly #sizes: Uint32Array;
  readonly #upTo: Uint32Array;

  constructor(values: Float64Array, q: number, blocks: number) {
    const inOrder = values.toSorted();
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

  /** The quantile of the values of the chosen blocks. */
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

/** Binary search: the first index from which `holds` is true; `length` if there is none. */
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
