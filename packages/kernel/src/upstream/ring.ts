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
