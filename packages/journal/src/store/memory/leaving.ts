/** Who leaves when: finished operations, in the order in which nobody needs them any more. */
export interface Leaving<T> {
  /** It is over, and holds its slot for so long. */
  readonly add: (one: T, holdMs: number, heldUntil: number) => void;
  /** Those that hold nothing any more, without the newest of them, which are kept. */
  readonly take: (now: number) => readonly T[];
}

interface Line<T> {
  readonly those: T[];
  readonly ends: number[];
}

/**
 * What is held for equally long becomes free in the order in which it came, so that nobody has to look
 * through all of it. There are as many lines as there are windows: few.
 */
export function leaving<T>(kept: number): Leaving<T> {
  const lines = new Map<number, Line<T>>();
  const free: T[] = [];

  return {
    add(one, holdMs, heldUntil) {
      let line = lines.get(holdMs);
      if (line === undefined) lines.set(holdMs, (line = { those: [], ends: [] }));
      line.those.push(one);
      line.ends.push(heldUntil);
    },
    take(now) {
      for (const [holdMs, { those, ends }] of lines) {
        const held = ends.findIndex((end) => end > now);
        const count = held < 0 ? ends.length : held;
        // In their place: an old array that is thrown away would keep all that it held from being collected.
        for (const one of those.splice(0, count)) free.push(one);
        ends.splice(0, count);
        if (those.length === 0) lines.delete(holdMs);
      }
      return free.splice(0, Math.max(0, free.length - kept));
    },
  };
}
