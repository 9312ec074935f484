/** Decides which of several ways an event goes. */
export interface Picker {
  readonly pick: (options: number) => number;
}

/** Goes given ways first and the ordinary way after that, and remembers how many there were. */
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

  /** The ways that branch off from this one where nothing was given. */
  *branches(): Generator<readonly number[]> {
    for (let at = this.#given.length; at < this.picks.length; at += 1) {
      const before = this.picks.slice(0, at);
      for (let other = 1; other < this.#counts[at]!; other += 1) yield [...before, other];
    }
  }
}

/** The way that the current event goes. */
export class Ways {
  picker: Picker = new Recorder();
  /** What happened, in plain words. */
  story: string[] = [];
  /** Everything can happen to it: processes halt, and the upstream does whatever it can do. */
  isFull = false;
  /** A transition was made, and nothing unusual has happened since the beginning. */
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
