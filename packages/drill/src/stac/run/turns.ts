/** One call of a block in one arm. */
export interface Turn {
  readonly arm: number;
  readonly call: number;
}

/**
 * The order in which the arms make the calls of a block: one of each arm after the other, so that
 * whatever else the machine does happens to all of them alike. Each begins at another call, lest they
 * all ask the same at the same time, and none always goes before or behind another.
 */
export function takingTurns(calls: number, arms: number, block: number): Turn[] {
  return Array.from({ length: calls }, (_, step) =>
    turnOrder(arms, block + step).map((arm) => ({
      arm,
      call: (step + Math.floor((arm * calls) / arms)) % calls,
    })),
  ).flat();
}

/** Over as many turns as there are orders, each arm has each place equally often. */
export function turnOrder(arms: number, turn: number): number[] {
  const order = Array.from({ length: arms }, (_, place) => (place + (turn >> 1)) % arms);
  return turn % 2 === 0 ? order : order.toReversed();
}
