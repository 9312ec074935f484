import type { Measured } from '../measure/measured.js';

/** The run of each scenario that counts: the last one, if it had to be made again. */
export function lastRuns(all: readonly Measured[]): Measured[] {
  return [...new Map(all.map((run) => [run.scenario.id, run])).values()];
}
