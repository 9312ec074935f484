import { objectives } from '../objectives/index.js';
import type { PlanOptions } from '../plan/index.js';
import type { Job } from '../runs/job.js';
import type { Results } from '../runs/results.js';

/** Everything that was measured, for a machine. */
export function renderJson(
  { seed, calls }: PlanOptions,
  jobs: readonly Job[],
  results: Results,
): string {
  const judged = objectives(results).filter(({ verdict }) => verdict !== 'not run');
  const all = { seed, calls, objectives: judged, results: results.inOrderOf(jobs) };
  return `${JSON.stringify(all, null, 2)}\n`;
}
