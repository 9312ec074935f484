import type { Objective } from '../../objectives/objective.js';
import type { Measured } from '../measure/measured.js';

/** All that a report is made of. */
export interface Report {
  readonly seed: number;
  readonly calls: number;
  readonly quick: boolean;
  /** Every run, also those that had to be made again. */
  readonly runs: readonly Measured[];
  readonly objectives: readonly Objective[];
  readonly tookMs: number;
}
