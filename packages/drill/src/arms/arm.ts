import type { Clock, ResilientFunction, Work } from '@toolkeel/kernel';

/** What an arm calls. The input is the number of the call. */
export interface Callee {
  readonly handle: Work<number, number>;
  /** The same for a client that takes its own timeout for final, as some do. */
  handleWithin(timeoutMs: number): Work<number, number>;
}

/** What an arm is built in. */
export interface World {
  readonly clock: Clock;
  readonly upstream: Callee;
  readonly seed: number;
  readonly onCircuit: ((event: CircuitEvent, now: number) => void) | undefined;
}

export type CircuitEvent = 'circuit_open' | 'circuit_half_open' | 'circuit_close';

/** One way to call the upstream, beside others. */
export interface Arm {
  readonly title: string;
  build(world: World): ResilientFunction<number, number>;
}
