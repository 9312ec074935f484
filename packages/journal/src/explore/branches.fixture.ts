/** Chooses one of several branches of an event. */
export interface Picker {
  readonly pick: (options: number) => number;
}

/** Follows given branches first and the ordinary one after that, and records how many there were. */
export class Recorder implements Picker {
  readonly picks: number[] = [];
  readonly #counts: number[] = [];
  readonly #given: readonly number[];

  constructor(given: readonly number[] = []) {
    this.#given = given;
  }

  pick(options: number): number {
    const picked = this.#given[this.picks.length] ?? 0;
    this.picks.push(picked);
    this.#counts.push(options);
    return picked;
  }

  /** The unexplored branches after the given ones. */
  *branches(): Generator<readonly number[]> {
    for (let at = this.#given.length; at < this.picks.length; at += 1) {
      const before = this.picks.slice(0, at);
      for (let other = 1; other < this.#counts[at]!; other += 1) yield [...before, other];
    }
  }
}

/** The branches that the current event takes. */
export class Branches {
  picker: Picker = new Recorder();
  /** A description of the branches taken. */
  story: string[] = [];
  /** All failures are possible: processes halt, and the upstream answers in every way. */
  isFull = false;
  /** A transition was made, and no failure has occurred yet. */
  isBegun = false;
  isOrdinary = true;

  begin(picker: Picker, isFull: boolean): void {
    this.picker = picker;
    this.story = [];
    this.isFull = isFull;
    this.isBegun = false;
    this.isOrdinary = true;
  }

  /** The first option is the ordinary one. */
  pick(options: readonly string[]): number {
    const picked = options.length === 1 ? 0 : this.picker.pick(options.length);
    const words = options[picked]!;
    if (words !== '') this.story.push(words);
    return picked;
  }
}
