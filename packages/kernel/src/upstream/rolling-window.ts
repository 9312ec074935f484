/**
 * How many attempts ended within the last while, and how many of them failed.
 *
 * Two counts slide over each other: the last full window fades out while the current one fills. It
 * needs no list of attempts and is off only by how unevenly they came.
 */
export class RollingWindow {
  readonly #lengthMs: number;
  #until = -Infinity;
  #ended = 0;
  #failures = 0;
  #endedBefore = 0;
  #failuresBefore = 0;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
  }

  add(failures: 0 | 1, now: number): void {
    if (now >= this.#until) this.#turn(now);
    this.#ended++;
    this.#failures += failures;
  }

  /** Attempts that ended, and failures among them, as of `now`. */
  sum(now: number): { readonly ended: number; readonly failures: number } {
    if (now >= this.#until) this.#turn(now);
    const left = (this.#until - now) / this.#lengthMs;
    return {
      ended: this.#ended + this.#endedBefore * left,
      failures: this.#failures + this.#failuresBefore * left,
    };
  }

  clear(): void {
    this.#until = -Infinity;
  }

  #turn(now: number): void {
    const adjacent = now < this.#until + this.#lengthMs;
    this.#endedBefore = adjacent ? this.#ended : 0;
    this.#failuresBefore = adjacent ? this.#failures : 0;
    this.#ended = 0;
    this.#failures = 0;
    this.#until = (adjacent ? this.#until : now) + this.#lengthMs;
  }
}
