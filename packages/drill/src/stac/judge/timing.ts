import { judge, type Objective } from '../../objectives/objective.js';
import { change, duration, times } from '../../report/format.js';
import { armOf, type Measured, type Ratio } from '../measure/measured.js';
import * as bars from './bars.js';
import { judgeNoise } from './noise.js';

/** Requests that arrived with faults for each that arrived without. */
export function loadOf(run: Measured): number {
  return armOf(run, 'faulted').requests / armOf(run, 'baseline').requests;
}

/** The p95 of all calls of a scenario, and for the mix at which load. */
export function p95Objective(run: Measured): Objective {
  const { mode, p95Ms } = run.scenario;
  const isMix = mode === 'mix';
  const load = loadOf(run);
  const { faulted } = run.ratios;
  const enough = armOf(run, 'faulted').calls >= bars.POOLED_CALLS;
  const objective = judge({
    what: `p95, ${isMix ? 'one fault in five a timeout, hedging' : 'fast faults'}, ${duration(p95Ms)}`,
    bar: `≤ ${bars.P95_TEXT}${isMix ? ` at ≤ ${times(bars.LOAD_BAR, 1)}` : ''}`,
    values: [enough ? faulted : undefined],
    show: ([ratio]) => `${withInterval(ratio!)}${isMix ? ` at ${times(load)}` : ''}`,
    meets: ({ ratio }) => ratio <= bars.P95_BAR && (!isMix || load <= bars.LOAD_BAR),
  });
  if (objective.verdict === 'not run' || judgeNoise(run).counts) return objective;
  return { ...objective, verdict: 'too noisy' };
}

export function withInterval({ ratio, low, high }: Ratio): string {
  return `${change(ratio)} (${change(low)} … ${change(high)})`;
}
