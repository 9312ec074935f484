/** The upstream's own time. It runs like the machine's, and can be moved forward. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly advance: (ms: number) => void;
}

export function createClock(startAt?: number, machine: () => number = Date.now): Clock {
  let ahead = startAt === undefined ? 0 : startAt - machine();
  return {
    now: () => machine() + ahead,
    advance: (ms) => {
      ahead += ms;
    },
  };
}
