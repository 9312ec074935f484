import type { ArmName } from './variants.js';
import { type Arrivals, derive, type FaultModeName, type OutageKind } from './model.js';
import type { Job } from './jobs.js';
import { type BurstStart, callsForBursts } from './bursts.js';

/** How large a table, and which luck. */
export interface PlanOptions {
  readonly seed: number;
  /** Calls of a cell; scenarios are in proportion. */
  readonly calls: number;
}

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

export const outageKinds = ['crashes', 'hangs', 'turnsAway'] as const satisfies OutageKind[];
export const outageRates = [0.2, 2, 100, 2000] as const;
export const outageArms = ['ours', 'hedged', 'withoutBreaker'] as const satisfies ArmName[];
/** Without a budget the load does not depend on the rate: one is enough. */
export const outageRivals = ['seed', 'pRetry', 'undici', 'ky'] as const satisfies ArmName[];

export function outageJobs({ seed }: PlanOptions): Job<'outage'>[] {
  const job = (outage: OutageKind, perSecond: number, arm: ArmName): Job<'outage'> => ({
    id: outageId(outage, perSecond, arm),
    kind: 'outage',
    options: { arm, outage, perSecond, seed: derive(seed, 200) },
  });
  return [
    ...outageKinds.flatMap((kind) =>
      outageRates.flatMap((rate) => outageArms.map((arm) => job(kind, rate, arm))),
    ),
    ...outageRivals.map((arm) => job('crashes', 100, arm)),
  ];
}

export function outageId(outage: OutageKind, perSecond: number, arm: ArmName): string {
  return `outage/${outage}/${perSecond}/${arm}`;
}

export const burstMeans = [50, 200, 1000, 5000] as const;
export const burstRates = [100, 2] as const;

export function burstJobs({ seed, calls }: PlanOptions): Job<'bursts'>[] {
  return burstRates.flatMap((perSecond) =>
    burstMeans.flatMap((meanMs, n) => {
      const wanted = perSecond < 10 ? calls / 10 : calls / 2;
      const some = callsForBursts(wanted, meanMs, perSecond);
      return comparedArms.map((arm): Job<'bursts'> => {
        const options = { arm, meanMs, perSecond, calls: some, seed: derive(seed, 300 + n) };
        return { id: burstId(meanMs, perSecond, arm), kind: 'bursts', options };
      });
    }),
  );
}

export function burstId(meanMs: number, perSecond: number, arm: ArmName): string {
  return `bursts/${meanMs}/${perSecond}/${arm}`;
}

export const insideBurstLengths = [300, 1000] as const;
export const insideBurstRates = [2, 20] as const;
export const insideBurstStarts = ['warm', 'cold'] as const satisfies BurstStart[];
export const insideBurstBaselines = [5, 200, 2000] as const;

export function insideBurstJobs({ seed, calls }: PlanOptions): Job<'insideBursts'>[] {
  const some = Math.min(2_500, Math.max(100, Math.round(calls / 50)));
  return insideBurstLengths.flatMap((burstMs) =>
    insideBurstRates.flatMap((perSecond) =>
      insideBurstStarts.flatMap((start) =>
        insideBurstBaselines.flatMap((p95Ms, n) =>
          comparedArms.map((arm): Job<'insideBursts'> => {
            const about = { burstMs, perSecond, start, p95Ms };
            const options = { ...about, arm, calls: some, seed: derive(seed, 350 + n) };
            return { id: insideBurstId(about, arm), kind: 'insideBursts', options };
          }),
        ),
      ),
    ),
  );
}

export function insideBurstId(
  about: {
    readonly burstMs: number;
    readonly perSecond: number;
    readonly start: BurstStart;
    readonly p95Ms: number;
  },
  arm: ArmName,
): string {
  const { burstMs, perSecond, start, p95Ms } = about;
  return `inside-bursts/${burstMs}/${perSecond}/${start}/${p95Ms}/${arm}`;
}

export const falseOpenRates = [0.2, 0.3] as const;
export const falseOpenArrivals: readonly { readonly title: string; readonly arrivals: Arrivals }[] =
  [
    { title: '8 callers', arrivals: { callers: 8 } },
    { title: '64 callers', arrivals: { callers: 64 } },
    { title: '2 calls/s', arrivals: { perSecond: 2 } },
  ];

export function falseOpenJobs({ seed, calls }: PlanOptions): Job<'falseOpens'>[] {
  const runs = Math.min(100, Math.max(10, Math.round(calls / 2000)));
  const callsPerRun = Math.min(3000, Math.ceil(calls / 10));
  return falseOpenRates.flatMap((faultRate) =>
    falseOpenArrivals.map(({ title, arrivals }): Job<'falseOpens'> => {
      const options = { arm: 'ours', faultRate, arrivals, runs, callsPerRun } as const;
      const id = falseOpenId(faultRate, title);
      return { id, kind: 'falseOpens', options: { ...options, seed: derive(seed, 400) } };
    }),
  );
}

export function falseOpenId(faultRate: number, arrivals: string): string {
  return `false-opens/${faultRate}/${arrivals}`;
}

export const recoveryOutages = [5_000, 30_000, 90_000] as const;
export const RECOVERY_PER_SECOND = 100;
/** The upstream can take half as many requests again as calls come; the rest it sheds. */
export const RECOVERY_CAPACITY = 1.5;

export function recoveryJobs({ seed }: PlanOptions): Job<'recovery'>[] {
  return recoveryOutages.flatMap((outageMs) =>
    comparedArms.map((arm): Job<'recovery'> => {
      const options = {
        arm,
        outageMs,
        perSecond: RECOVERY_PER_SECOND,
        capacity: RECOVERY_CAPACITY,
      };
      const id = recoveryId(outageMs, arm);
      return { id, kind: 'recovery', options: { ...options, seed: derive(seed, 500) } };
    }),
  );
}

export function recoveryId(outageMs: number, arm: ArmName): string {
  return `recovery/${outageMs}/${arm}`;
}

export function coldJobs({ seed, calls }: PlanOptions): Job<'cold'>[] {
  const runs = Math.min(1000, Math.max(20, Math.round(calls / 200)));
  return baselines.flatMap((p95Ms, n) =>
    ownArms.map((arm): Job<'cold'> => {
      const options = { arm, p95Ms, perSecond: 100, runs, seed: derive(seed, 600 + n) };
      return { id: coldId(p95Ms, arm), kind: 'cold', options };
    }),
  );
}

export function coldId(p95Ms: number, arm: ArmName): string {
  return `cold/${p95Ms}/${arm}`;
}

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
