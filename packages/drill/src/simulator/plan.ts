import { type BurstStart, callsForBursts } from './bursts.js';
import type { Job } from './jobs.js';
import { type Arrivals, derive, type FaultModeName, type OutageKind } from './model.js';
import type { VariantName } from './variants.js';

export interface PlanOptions {
  readonly seed: number;
  /** Calls of a cell; the other scenarios scale with it. */
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
/** The variants that are judged against the thresholds. */
export const ownVariants = ['ours', 'hedged'] as const satisfies VariantName[];

type Combination<L extends readonly (readonly unknown[])[]> = { [K in keyof L]: L[K][number] };

/** Every combination of the lists, the last list varying fastest. */
export function cross<const L extends readonly (readonly unknown[])[]>(
  ...lists: L
): Combination<L>[] {
  return lists.reduce<unknown[][]>(
    (rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])),
    [[]],
  ) as Combination<L>[];
}

const SIGMA = 0.5;
/** Arrivals per second at every baseline: between 0.2 and 100 calls are in flight. */
export const PER_SECOND = 100;

const cellModes = ['none', ...faultKinds] as const;

/** Every variant, baseline and fault mode; without faults only the own variants. */
export const cells = cross(cellModes, baselines, comparedVariants).filter(
  ([faults, , variant]) => faults !== 'none' || variant === 'ours' || variant === 'hedged',
);

export const cellId = (faults: FaultModeName, p95Ms: number, variant: VariantName): string =>
  `cell/${faults}/${p95Ms}/${variant}`;

function cellJobs({ seed, calls }: PlanOptions): Job<'cell'>[] {
  return cells.map(([faults, p95Ms, variant]) => ({
    id: cellId(faults, p95Ms, variant),
    kind: 'cell',
    options: {
      variant,
      faults,
      calls,
      latency: { p95Ms, sigma: SIGMA },
      arrivals: { perSecond: PER_SECOND },
      // Independent of the variant: all variants of a column get the same random numbers.
      seed: derive(seed, 10 * cellModes.indexOf(faults) + baselines.indexOf(p95Ms)),
    },
  }));
}

/** Other conditions than those of the thresholds. */
export const conditions: readonly {
  readonly title: string;
  readonly sigma?: number;
  readonly arrivals?: Arrivals;
}[] = [
  { title: 'as above: σ 0.5, 100 calls/s' },
  { title: 'narrow latencies, σ 0.25', sigma: 0.25 },
  { title: 'wide latencies, σ 1', sigma: 1 },
  { title: 'a slow agent, 2 calls/s', arrivals: { perSecond: 2 } },
  { title: 'a busy agent, 2000 calls/s', arrivals: { perSecond: 2000 } },
  { title: '8 callers in a closed loop', arrivals: { callers: 8 } },
  { title: '64 callers in a closed loop', arrivals: { callers: 64 } },
];

/** The variant and fault mode of the two thresholds on p95. */
export const conditionVariants = [
  { variant: 'ours', faults: 'fast' },
  { variant: 'hedged', faults: 'mix' },
] as const;

export const conditionId = (title: string, variant: VariantName): string =>
  `circumstance/${title}/${variant}`;

function conditionJobs({ seed, calls }: PlanOptions): Job<'cell'>[] {
  return cross([...conditions.entries()], conditionVariants).map(
    ([
      [n, { title, sigma = SIGMA, arrivals = { perSecond: PER_SECOND } }],
      { variant, faults },
    ]) => ({
      id: conditionId(title, variant),
      kind: 'cell',
      options: {
        variant,
        faults,
        calls,
        latency: { p95Ms: 200, sigma },
        arrivals,
        seed: derive(seed, 100 + n),
      },
    }),
  );
}

export const outageKinds = ['crashes', 'hangs', 'turnsAway'] as const satisfies OutageKind[];
export const outageRates = [0.2, 2, 100, 2000] as const;
export const outageVariants = ['ours', 'hedged', 'withoutBreaker'] as const satisfies VariantName[];
/** Without a budget the load does not depend on the rate: one rate is enough. */
export const unbudgetedVariants = [
  'seed',
  'pRetry',
  'undici',
  'ky',
] as const satisfies VariantName[];

export const outageId = (outage: OutageKind, perSecond: number, variant: VariantName): string =>
  `outage/${outage}/${perSecond}/${variant}`;

function outageJobs({ seed }: PlanOptions): Job<'outage'>[] {
  return [
    ...cross(outageKinds, outageRates, outageVariants),
    ...cross(['crashes'], [100], unbudgetedVariants),
  ].map(([outage, perSecond, variant]) => ({
    id: outageId(outage, perSecond, variant),
    kind: 'outage',
    options: { variant, outage, perSecond, seed: derive(seed, 200) },
  }));
}

export const burstMeans = [50, 200, 1000, 5000] as const;
export const burstRates = [100, 2] as const;

export const burstId = (meanMs: number, perSecond: number, variant: VariantName): string =>
  `bursts/${meanMs}/${perSecond}/${variant}`;

function burstJobs(options: PlanOptions): Job<'bursts'>[] {
  return cross(burstRates, burstMeans, comparedVariants).map(([perSecond, meanMs, variant]) => ({
    id: burstId(meanMs, perSecond, variant),
    kind: 'bursts',
    options: {
      variant,
      meanMs,
      perSecond,
      calls: callsForBursts(options.calls / (perSecond < 10 ? 10 : 2), meanMs, perSecond),
      seed: derive(options.seed, 300 + burstMeans.indexOf(meanMs)),
    },
  }));
}

export const insideBurstLengths = [300, 1000] as const;
export const insideBurstRates = [2, 20] as const;
export const insideBurstStarts = ['warm', 'cold'] as const satisfies BurstStart[];
export const insideBurstBaselines = [5, 200, 2000] as const;

export const insideBurstId = (
  burstMs: number,
  perSecond: number,
  start: BurstStart,
  p95Ms: number,
  variant: VariantName,
): string => `inside-bursts/${burstMs}/${perSecond}/${start}/${p95Ms}/${variant}`;

function insideBurstJobs({ seed, calls }: PlanOptions): Job<'insideBursts'>[] {
  return cross(
    insideBurstLengths,
    insideBurstRates,
    insideBurstStarts,
    insideBurstBaselines,
    comparedVariants,
  ).map(([burstMs, perSecond, start, p95Ms, variant]) => ({
    id: insideBurstId(burstMs, perSecond, start, p95Ms, variant),
    kind: 'insideBursts',
    options: {
      burstMs,
      perSecond,
      start,
      p95Ms,
      variant,
      calls: Math.min(2_500, Math.max(100, Math.round(calls / 50))),
      seed: derive(seed, 350 + insideBurstBaselines.indexOf(p95Ms)),
    },
  }));
}

export const falseOpenRates = [0.2, 0.3] as const;
export const falseOpenArrivals: readonly { readonly title: string; readonly arrivals: Arrivals }[] =
  [
    { title: '8 callers', arrivals: { callers: 8 } },
    { title: '64 callers', arrivals: { callers: 64 } },
    { title: '2 calls/s', arrivals: { perSecond: 2 } },
  ];

export const falseOpenId = (faultRate: number, arrivals: string): string =>
  `false-opens/${faultRate}/${arrivals}`;

function falseOpenJobs({ seed, calls }: PlanOptions): Job<'falseOpens'>[] {
  return cross(falseOpenRates, falseOpenArrivals).map(([faultRate, { title, arrivals }]) => ({
    id: falseOpenId(faultRate, title),
    kind: 'falseOpens',
    options: {
      variant: 'ours',
      faultRate,
      arrivals,
      runs: Math.min(100, Math.max(10, Math.round(calls / 2000))),
      callsPerRun: Math.min(3000, Math.ceil(calls / 10)),
      seed: derive(seed, 400),
    },
  }));
}

export const recoveryOutages = [5_000, 30_000, 90_000] as const;
export const RECOVERY_PER_SECOND = 100;
/** The upstream's capacity as a multiple of the calls; it sheds requests above it. */
export const RECOVERY_CAPACITY = 1.5;

export const recoveryId = (outageMs: number, variant: VariantName): string =>
  `recovery/${outageMs}/${variant}`;

function recoveryJobs({ seed }: PlanOptions): Job<'recovery'>[] {
  return cross(recoveryOutages, comparedVariants).map(([outageMs, variant]) => ({
    id: recoveryId(outageMs, variant),
    kind: 'recovery',
    options: {
      variant,
      outageMs,
      perSecond: RECOVERY_PER_SECOND,
      capacity: RECOVERY_CAPACITY,
      seed: derive(seed, 500),
    },
  }));
}

export const coldId = (p95Ms: number, variant: VariantName): string => `cold/${p95Ms}/${variant}`;

function coldJobs({ seed, calls }: PlanOptions): Job<'cold'>[] {
  return cross(baselines, ownVariants).map(([p95Ms, variant]) => ({
    id: coldId(p95Ms, variant),
    kind: 'cold',
    options: {
      variant,
      p95Ms,
      perSecond: 100,
      runs: Math.min(1000, Math.max(20, Math.round(calls / 200))),
      seed: derive(seed, 600 + baselines.indexOf(p95Ms)),
    },
  }));
}

/** Every job of the full table. */
export function fullPlan(options: PlanOptions): Job[] {
  return [
    ...cellJobs(options),
    ...conditionJobs(options),
    ...coldJobs(options),
    ...outageJobs(options),
    ...insideBurstJobs(options),
    ...burstJobs(options),
    ...falseOpenJobs(options),
    ...recoveryJobs(options),
  ];
}

/** The jobs whose id contains the pattern; `*` matches any characters. */
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
