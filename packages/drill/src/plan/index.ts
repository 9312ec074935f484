import type { Job } from '../runs/job.js';
import { cellJobs, circumstanceJobs } from './cells.js';
import type { PlanOptions } from './options.js';
import {
  burstJobs,
  coldJobs,
  falseOpenJobs,
  insideBurstJobs,
  outageJobs,
  recoveryJobs,
} from './scenarios.js';

export type { PlanOptions } from './options.js';

/** Everything that the table is made of. */
export function fullPlan(options: PlanOptions): Job[] {
  return [
    ...cellJobs(options),
    ...circumstanceJobs(options),
    ...coldJobs(options),
    ...outageJobs(options),
    ...insideBurstJobs(options),
    ...burstJobs(options),
    ...falseOpenJobs(options),
    ...recoveryJobs(options),
  ];
}

/** The jobs whose id contains the pattern; `*` stands for anything. */
export function matching(jobs: readonly Job[], pattern: string): Job[] {
  const parts = pattern.split('*');
  return jobs.filter(({ id }) => {
    let from = 0;
    return parts.every((part) => {
      const at = id.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  });
}
