/** The last few latencies, in no order. Written on every success, sorted only when somebody asks. */
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
    if (this.#samples.length === 0) return undefined;
    const sorted = this.#samples.toSorted((a, b) => a - b);
    const place = q * (sorted.length - 1);
    const below = Math.floor(place);
    const low = sorted[below]!;
    const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
    return low + (high - low) * (place - below);
  }
}
