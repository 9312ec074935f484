import { breaker } from './breaker.js';
import { budget } from './budget.js';
import { hedge } from './hedge.js';
import type { Sweep } from './sweep.js';
import { alpha, fallback, second } from './waits.js';

/** The numbers that were tuned here, and how to see what another choice would do. */
export const sweeps = { alpha, fallback, second, budget, breaker, hedge } as const satisfies Record<
  string,
  Sweep
>;

export type SweepName = keyof typeof sweeps;
export const sweepNames = Object.keys(sweeps) as SweepName[];

export { sweepJobs, sweepTable } from './sweep.js';
export type { Sweep } from './sweep.js';
