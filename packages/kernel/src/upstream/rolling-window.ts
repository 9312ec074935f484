const SLICES = 10;

/** How many attempts ended within the last while, and how many of them failed. */
export class RollingWindow {
  readonly #sliceMs: number;
  readonly #ended: number[] = new Array<number>(SLICES).fill(0);
  readonly #failures: number[] = new Array<number>(SLICES).fill(0);
  /** When the current slice ends, and which one it is. */
  #sliceEnds = Number.NEGATIVE_INFINITY;
  #slice = 0;
  ended = 0;
  failures = 0;

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES;
  }

  succeeded(now: number): void {
    if (now >= this.#sliceEnds) this.#turn(now);
    this.#ended[this.#slice]!++;
    this.ended++;
  }

  failed(now: number): void {
    this.succeeded(now);
    this.#failures[this.#slice]!++;
    this.failures++;
  }

  clear(): void {
    this.#ended.fill(0);
    this.#failures.fill(0);
    this.ended = 0;
    this.failures = 0;
  }

  /** Forgets the slices that have passed since the last attempt ended. */
  #turn(now: number): void {
    const passed = Math.floor((now - this.#sliceEnds) / this.#sliceMs) + 1;
    if (passed >= SLICES) {
      this.clear();
      this.#sliceEnds = now + this.#sliceMs;
      return;
    }
    for (let i = 0; i < passed; i++) {
      this.#slice = (this.#slice + 1) % SLICES;
      this.ended -= this.#ended[this.#slice]!;
      this.failures -= this.#failures[this.#slice]!;
      this.#ended[this.#slice] = 0;
      this.#failures[this.#slice] = 0;
    }
    this.#sliceEnds += passed * this.#sliceMs;
  }
}
