/** Who leaves when: finished operations, in the order in which nobody needs them any more. */
export interface Leaving {
  /** It is over, and holds its slot for so long. */
  readonly add: (id: string, holdMs: number, heldUntil: number) => void;
  /** Those that hold nothing any more, without the newest of them, which are kept. */
  readonly take: (now: number) => readonly string[];
}

interface Line {
  ids: string[];
  ends: number[];
}

/**
 * What is held for equally long becomes free in the order in which it came, so that nobody has to look
 * through all of it. There are as many lines as there are windows: few.
 */
export function leaving(kept: number): Leaving {
  const lines = new Map<number, Line>();
  let free: string[] = [];

  return {
    add(id, holdMs, heldUntil) {
      let line = lines.get(holdMs);
      if (line === undefined) lines.set(holdMs, (line = { ids: [], ends: [] }));
      line.ids.push(id);
      line.ends.push(heldUntil);
    },
    take(now) {
      for (const [holdMs, { ids, ends }] of lines) {
        const held = ends.findIndex((end) => end > now);
        const count = held < 0 ? ends.length : held;
        for (let i = 0; i < count; i++) free.push(ids[i]!);
        if (count === ids.length) lines.delete(holdMs);
        else lines.set(holdMs, { ids: ids.slice(count), ends: ends.slice(count) });
      }
      if (free.length <= kept) return [];
      const gone = free.slice(0, free.length - kept);
      free = free.slice(free.length - kept);
      return gone;
    },
  };
}
