/** What really happened: the upstream's own log, the witness of every run. */
export interface Effect {
  readonly id: string;
  readonly key: string;
  readonly part: string;
}

export interface EffectCounts {
  /** Everything that was committed. */
  readonly effects: number;
  /** Different acts among them. */
  readonly acts: number;
  /** Acts that were committed more than once. */
  readonly duplicates: number;
}

/** Append-only. An act is a key and a part of it: a thread has several. */
export class Effects {
  readonly #byAct = new Map<string, Effect[]>();
  #count = 0;
  #duplicates = 0;

  commit(key: string, part: string): Effect {
    this.#count += 1;
    const effect = { id: `e${this.#count}`, key, part };
    const act = actOf(key, part);
    const known = this.#byAct.get(act);
    if (known === undefined) this.#byAct.set(act, [effect]);
    else {
      if (known.length === 1) this.#duplicates += 1;
      known.push(effect);
    }
    return effect;
  }

  of(key: string, part: string): readonly Effect[] {
    return this.#byAct.get(actOf(key, part)) ?? [];
  }

  get counts(): EffectCounts {
    return { effects: this.#count, acts: this.#byAct.size, duplicates: this.#duplicates };
  }
}

function actOf(key: string, part: string): string {
  return JSON.stringify([key, part]);
}
