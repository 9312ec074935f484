import { judge, type Objective } from '../../objectives/objective.js';
import { duration } from '../../report/format.js';
import type { Measured } from '../measure/measured.js';
import * as bars from './bars.js';

/** What must hold in every arm of every run, also in those that do not count otherwise. */
export function hardObjectives(runs: readonly Measured[]): Objective[] {
  const arms = runs.flatMap((run) => run.arms);
  const calls = arms.reduce((sum, arm) => sum + arm.calls, 0).toLocaleString('en');
  return [
    judge({
      what: 'attempts at a request, by the upstream’s log',
      bar: `≤ ${bars.ATTEMPTS_BAR}`,
      values: arms,
      show: (all) => `at most ${Math.max(...all.map(({ mostAttempts }) => mostAttempts))}`,
      meets: ({ mostAttempts }) => mostAttempts <= bars.ATTEMPTS_BAR,
    }),
    judge({
      what: 'wall time of a call',
      bar: `≤ ${duration(bars.CAP_MS)} + ${duration(bars.WALL_SLACK_MS)}`,
      values: arms,
      show: (all) => `at most ${duration(Math.max(...all.map(({ maxMs }) => maxMs)))}`,
      meets: ({ maxMs }) => maxMs <= bars.CAP_MS + bars.WALL_SLACK_MS,
    }),
    judge({
      what: 'envelopes that do not match their schema',
      bar: '0',
      values: arms,
      show: (all) => `${lengthOf(all.map(({ mismatches }) => mismatches))} of ${calls}`,
      meets: ({ mismatches }) => mismatches.length === 0,
    }),
    judge({
      what: 'calls that say otherwise than the upstream’s log',
      bar: '0',
      values: arms,
      show: (all) => `${lengthOf(all.map(({ contradictions }) => contradictions))} of ${calls}`,
      meets: ({ contradictions }) => contradictions.length === 0,
    }),
    judge({
      what: 'requests that belong to no call',
      bar: '0',
      values: runs.map(({ strange }) => strange),
      show: (all) => String(all.reduce((sum, one) => sum + one, 0)),
      meets: (strange) => strange === 0,
    }),
  ];
}

function lengthOf(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((sum, list) => sum + list.length, 0);
}
