import type { Objective } from '../../objectives/objective.js';
import type { Measured } from '../measure/measured.js';
import { hardObjectives } from './hard.js';
import { lastRuns } from './runs.js';
import { byRequests, successObjectives, undisturbedSuccess } from './success.js';
import { p95Objective } from './timing.js';

/** The bars, and how we stand. */
export function stacObjectives(all: readonly Measured[]): Objective[] {
  const runs = lastRuns(all);
  const fast = runs.filter(({ scenario }) => scenario.mode === 'fast');
  return [
    ...fast.flatMap(successObjectives),
    ...(fast.length > 0 ? [byRequests(fast)] : []),
    ...runs.map(p95Objective),
    ...hardObjectives(all),
    undisturbedSuccess(all),
  ];
}

/** 0: all met. 1: a bar is missed. 3: none is, but the machine was too noisy to judge all. */
export function exitCodeOf(objectives: readonly Objective[]): 0 | 1 | 3 {
  const has = (wanted: Objective['verdict']) =>
    objectives.some(({ verdict }) => verdict === wanted);
  if (has('missed')) return 1;
  return has('too noisy') ? 3 : 0;
}
