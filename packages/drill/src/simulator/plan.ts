import type { VariantName } from './variants.js';
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
export const comparedVariants = [
  'ours',
  'hedged',
  'seed',
  'pRetry',
  'undici',
  'ky',
  'floor',
] as const satisfies VariantName[];
/** Those whose every attempt and millisecond is held against the thresholds. */
export const ownVariants = ['ours', 'hedged'] as const satisfies VariantName[];

const SIGMA = 0.5;
/** How often calls come, whatever the baseline: between 0.2 and 100 are under way at a time. */
export const PER_SECOND = 100;

/** Every variant, baseline and kind of fault; our own variants without faults too. */
export function cellJobs({ seed, calls }: PlanOptions): Job<'cell'>[] {
  const jobs: Job<'cell'>[] = [];
  const modes = ['none', ...faultKinds] as const;
  for (const [m, faults] of modes.entries()) {
    for (const [b, p95Ms] of baselines.entries()) {
      for (const variant of faults === 'none' ? ownVariants : comparedVariants) {
        const options = {
          variant,
          faults,
          calls,
          latency: { p95Ms, sigma: SIGMA },
          arrivals: { perSecond: PER_SECOND },
          // Not the variant's: all variants of a column meet the same luck.
          seed: derive(seed, 10 * m + b),
        };
        jobs.push({ id: cellId(faults, p95Ms, variant), kind: 'cell', options });
      }
    }
  }
  return jobs;
}

export function cellId(faults: FaultModeName, p95Ms: number, variant: VariantName): string {
  return `cell/${faults}/${p95Ms}/${variant}`;
}

/** Other circumstances than those of the thresholds: do the numbers only hold there? */
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

/** Ours with fast faults and hedged with mixed ones, as in the thresholds, in other circumstances. */
export const circumstanceVariants = [
  { variant: 'ours', faults: 'fast' },
  { variant: 'hedged', faults: 'mix' },
] as const;

export function circumstanceJobs({ seed, calls }: PlanOptions): Job<'cell'>[] {
  return circumstances.flatMap(({ title, sigma = SIGMA, arrivals }, n) =>
    circumstanceVariants.map(({ variant, faults }): Job<'cell'> => {
      const options = {
        variant,
        faults,
        calls,
        latency: { p95Ms: 200, sigma },
        arrivals: arrivals ?? { perSecond: PER_SECOND },
        seed: derive(seed, 100 + n),
      };
      return { id: circumstanceId(title, variant), kind: 'cell', options };
    }),
  );
}

export function circumstanceId(title: string, variant: VariantName): string {
  return `circumstance/${title}/${variant}`;
}

export const outageKinds = ['crashes', 'hangs', 'turnsAway'] as const satisfies OutageKind[];
export const outageRates = [0.2, 2, 100, 2000] as const;
export const outageVariants = ['ours', 'hedged', 'withoutBreaker'] as const satisfies VariantName[];
/** Without a budget the load does not depend on the rate: one is enough. */
export const outageRivals = ['seed', 'pRetry', 'undici', 'ky'] as const satisfies VariantName[];

export function outageJobs({ seed }: PlanOptions): Job<'outage'>[] {
  const job = (outage: OutageKind, perSecond: number, variant: VariantName): Job<'outage'> => ({
    id: outageId(outage, perSecond, variant),
    kind: 'outage',
    options: { variant, outage, perSecond, seed: derive(seed, 200) },
  });
  return [
    ...outageKinds.flatMap((kind) =>
      outageRates.flatMap((rate) => outageVariants.map((variant) => job(kind, rate, variant))),
    ),
    ...outageRivals.map((variant) => job('crashes', 100, variant)),
  ];
}

export function outageId(outage: OutageKind, perSecond: number, variant: VariantName): string {
  return `outage/${outage}/${perSecond}/${variant}`;
}

export const burstMeans = [50, 200, 1000, 5000] as const;
export const burstRates = [100, 2] as const;

export function burstJobs({ seed, calls }: PlanOptions): Job<'bursts'>[] {
  return burstRates.flatMap((perSecond) =>
    burstMeans.flatMap((meanMs, n) => {
      const wanted = perSecond < 10 ? calls / 10 : calls / 2;
      const some = callsForBursts(wanted, meanMs, perSecond);
      return comparedVariants.map((variant): Job<'bursts'> => {
        const options = { variant, meanMs, perSecond, calls: some, seed: derive(seed, 300 + n) };
        return { id: burstId(meanMs, perSecond, variant), kind: 'bursts', options };
      });
    }),
  );
}

export function burstId(meanMs: number, perSecond: number, variant: VariantName): string {
  return `bursts/${meanMs}/${perSecond}/${variant}`;
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
          comparedVariants.map((variant): Job<'insideBursts'> => {
            const about = { burstMs, perSecond, start, p95Ms };
            const options = { ...about, variant, calls: some, seed: derive(seed, 350 + n) };
            return { id: insideBurstId(about, variant), kind: 'insideBursts', options };
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
  variant: VariantName,
): string {
  const { burstMs, perSecond, start, p95Ms } = about;
  return `inside-bursts/${burstMs}/${perSecond}/${start}/${p95Ms}/${variant}`;
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
      const options = { variant: 'ours', faultRate, arrivals, runs, callsPerRun } as const;
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
    comparedVariants.map((variant): Job<'recovery'> => {
      const options = {
        variant,
        outageMs,
        perSecond: RECOVERY_PER_SECOND,
        capacity: RECOVERY_CAPACITY,
      };
      const id = recoveryId(outageMs, variant);
      return { id, kind: 'recovery', options: { ...options, seed: derive(seed, 500) } };
    }),
  );
}

export function recoveryId(outageMs: number, variant: VariantName): string {
  return `recovery/${outageMs}/${variant}`;
}

export function coldJobs({ seed, calls }: PlanOptions): Job<'cold'>[] {
  const runs = Math.min(1000, Math.max(20, Math.round(calls / 200)));
  return baselines.flatMap((p95Ms, n) =>
    ownVariants.map((variant): Job<'cold'> => {
      const options = { variant, p95Ms, perSecond: 100, runs, seed: derive(seed, 600 + n) };
      return { id: coldId(p95Ms, variant), kind: 'cold', options };
    }),
  );
}

export function coldId(p95Ms: number, variant: VariantName): string {
  return `cold/${p95Ms}/${variant}`;
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
