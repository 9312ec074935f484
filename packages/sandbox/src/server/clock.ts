/** The upstream's clock. It follows the system clock and can be advanced. */
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
