import { baselines } from '../plan/cells.js';
import type { Results } from '../runs/results.js';
import { outOfReach } from './beyond.js';
import { attempts, fastP95, hedgedMix, success, wallTime } from './cells.js';
import type { Objective } from './objective.js';
import {
  coldStart,
  falseOpens,
  insideLongBursts,
  insideShortBursts,
  outages,
} from './scenarios.js';

/** The bars that a simulation can hold us to, and how we stand. */
export function objectives(results: Results): Objective[] {
  return [
    success(results),
    ...baselines.map((p95Ms) => fastP95(results, p95Ms)),
    ...baselines.map((p95Ms) => hedgedMix(results, p95Ms)),
    ...outages(results),
    insideShortBursts(results),
    insideLongBursts(results),
    coldStart(results),
    falseOpens(results),
    attempts(results),
    wallTime(results),
    ...outOfReach(results),
  ];
}
