import type { ArmName } from '../arms/index.js';
import type { Arrivals } from '../model/arrivals.js';
import { derive } from '../model/draws.js';
import type { FaultModeName } from '../model/fault-mode.js';
import type { Job } from '../runs/job.js';
import type { PlanOptions } from './options.js';

/** The baselines: an upstream's p95 without faults, in milliseconds. */
export const baselines = [5, 50, 200, 1000, 2000] as const;
export const faultKinds = ['fast', 'half', 'same', 'mix'] as const satisfies FaultModeName[];
export const comparedArms = [
  'ours',
  'hedged',
  'seed',
  'pRetry',
  'undici',
  'ky',
  'floor',
] as const satisfies ArmName[];
/** Those whose every attempt and millisecond is held against the bars. */
export const ownArms = ['ours', 'hedged'] as const satisfies ArmName[];

const SIGMA = 0.5;
/** How often calls come, whatever the baseline: between 0.2 and 100 are under way at a time. */
export const PER_SECOND = 100;

/** Every arm, baseline and kind of fault; our own arms without faults too. */
export function cellJobs({ seed, calls }: PlanOptions): Job<'cell'>[] {
  const jobs: Job<'cell'>[] = [];
  const modes = ['none', ...faultKinds] as const;
  for (const [m, faults] of modes.entries()) {
    for (const [b, p95Ms] of baselines.entries()) {
      for (const arm of faults === 'none' ? ownArms : comparedArms) {
        const options = {
          arm,
          faults,
          calls,
          latency: { p95Ms, sigma: SIGMA },
          arrivals: { perSecond: PER_SECOND },
          // Not the arm's: all arms of a column meet the same luck.
          seed: derive(seed, 10 * m + b),
        };
        jobs.push({ id: cellId(faults, p95Ms, arm), kind: 'cell', options });
      }
    }
  }
  return jobs;
}

export function cellId(faults: FaultModeName, p95Ms: number, arm: ArmName): string {
  return `cell/${faults}/${p95Ms}/${arm}`;
}

/** Other circumstances than those of the bars: do the numbers only hold there? */
export const circumstances: readonly {
  readonly title: string;
  readonly sigma?: number;
  readonly arrivals?: Arrivals;
}[] = [
  { title: 'as above: σ 0.5, 100 calls/s' },
  { title: 'narrow latencies, σ 0.25', sigma: 0.25 },
  { title: 'wide latencies, σ 1', sigma: 1 },
  { title: 'a slow agent, 2 calls/s', arrivals: { perSecond: 2 } },
  { title: 'a busy one, 2000 calls/s', arrivals: { perSecond: 2000 } },
  { title: '8 callers in a closed loop', arrivals: { callers: 8 } },
  { title: '64 callers in a closed loop', arrivals: { callers: 64 } },
];

/** Ours with fast faults and hedged with mixed ones, as in the bars, in other circumstances. */
export const circumstanceArms = [
  { arm: 'ours', faults: 'fast' },
  { arm: 'hedged', faults: 'mix' },
] as const;

export function circumstanceJobs({ seed, calls }: PlanOptions): Job<'cell'>[] {
  return circumstances.flatMap(({ title, sigma = SIGMA, arrivals }, n) =>
    circumstanceArms.map(({ arm, faults }): Job<'cell'> => {
      const options = {
        arm,
        faults,
        calls,
        latency: { p95Ms: 200, sigma },
        arrivals: arrivals ?? { perSecond: PER_SECOND },
        seed: derive(seed, 100 + n),
      };
      return { id: circumstanceId(title, arm), kind: 'cell', options };
    }),
  );
}

export function circumstanceId(title: string, arm: ArmName): string {
  return `circumstance/${title}/${arm}`;
}
