import { type BurstStart, callsForBursts } from './bursts.js';
import type { Job, JobKind, ResultOf, Results } from './jobs.js';
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

/** The jobs of a scenario, one for each point, and their results. */
interface Grid<K extends JobKind> {
  readonly jobs: (options: PlanOptions) => Job<K>[];
  readonly of: (
    results: Results,
    ...point: readonly (string | number)[]
  ) => ResultOf<K> | undefined;
}

function grid<K extends JobKind, P extends readonly (string | number)[]>(
  kind: K,
  name: string,
  points: readonly P[],
  optionsOf: (point: P, options: PlanOptions) => Job<K>['options'],
): Grid<K> {
  const idOf = (point: readonly (string | number)[]): string => [name, ...point].join('/');
  return {
    jobs: (options) =>
      points.map((point) => ({ id: idOf(point), kind, options: optionsOf(point, options) })),
    of: (results, ...point) => results.get(kind, idOf(point)),
  };
}

const cellModes = ['none', ...faultKinds] as const;

/** Every variant, baseline and fault mode; without faults only the own variants. */
export const cells = cross(cellModes, baselines, comparedVariants).filter(
  ([faults, , variant]) => faults !== 'none' || variant === 'ours' || variant === 'hedged',
);

export const cell = grid('cell', 'cell', cells, ([faults, p95Ms, variant], { seed, calls }) => ({
  variant,
  faults,
  calls,
  latency: { p95Ms, sigma: SIGMA },
  arrivals: { perSecond: PER_SECOND },
  // Independent of the variant: all variants of a column get the same random numbers.
  seed: derive(seed, 10 * cellModes.indexOf(faults) + baselines.indexOf(p95Ms)),
}));

/** Other conditions than those of the thresholds. */
const conditions: Readonly<
  Record<string, { readonly sigma?: number; readonly arrivals?: Arrivals }>
> = {
  'as above: σ 0.5, 100 calls/s': {},
  'narrow latencies, σ 0.25': { sigma: 0.25 },
  'wide latencies, σ 1': { sigma: 1 },
  'a slow agent, 2 calls/s': { arrivals: { perSecond: 2 } },
  'a busy agent, 2000 calls/s': { arrivals: { perSecond: 2000 } },
  '8 callers in a closed loop': { arrivals: { callers: 8 } },
  '64 callers in a closed loop': { arrivals: { callers: 64 } },
};
export const conditionTitles = Object.keys(conditions);

export const condition = grid(
  'cell',
  'circumstance',
  cross(conditionTitles, ownVariants),
  ([title, variant], { seed, calls }) => ({
    variant,
    // The fault mode of the variant's threshold on p95.
    faults: variant === 'hedged' ? ('mix' as const) : ('fast' as const),
    calls,
    latency: { p95Ms: 200, sigma: conditions[title]?.sigma ?? SIGMA },
    arrivals: conditions[title]?.arrivals ?? { perSecond: PER_SECOND },
    seed: derive(seed, 100 + conditionTitles.indexOf(title)),
  }),
);

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

export const outage = grid(
  'outage',
  'outage',
  [
    ...cross(outageKinds, outageRates, outageVariants),
    ...cross(['crashes'], [100], unbudgetedVariants),
  ],
  ([kind, perSecond, variant], { seed }) => ({
    variant,
    outage: kind,
    perSecond,
    seed: derive(seed, 200),
  }),
);

export const burstMeans = [50, 200, 1000, 5000] as const;
export const burstRates = [100, 2] as const;

export const burst = grid(
  'bursts',
  'bursts',
  cross(burstRates, burstMeans, comparedVariants).map(
    ([perSecond, meanMs, variant]) => [meanMs, perSecond, variant] as const,
  ),
  ([meanMs, perSecond, variant], { seed, calls }) => ({
    variant,
    meanMs,
    perSecond,
    calls: callsForBursts(calls / (perSecond < 10 ? 10 : 2), meanMs, perSecond),
    seed: derive(seed, 300 + burstMeans.indexOf(meanMs)),
  }),
);

export const insideBurstLengths = [300, 1000] as const;
export const insideBurstRates = [2, 20] as const;
export const insideBurstStarts = ['warm', 'cold'] as const satisfies BurstStart[];
export const insideBurstBaselines = [5, 200, 2000] as const;

export const insideBurst = grid(
  'insideBursts',
  'inside-bursts',
  cross(
    insideBurstLengths,
    insideBurstRates,
    insideBurstStarts,
    insideBurstBaselines,
    comparedVariants,
  ),
  ([burstMs, perSecond, start, p95Ms, variant], { seed, calls }) => ({
    burstMs,
    perSecond,
    start,
    p95Ms,
    variant,
    calls: Math.min(2_500, Math.max(100, Math.round(calls / 50))),
    seed: derive(seed, 350 + insideBurstBaselines.indexOf(p95Ms)),
  }),
);

export const falseOpenRates = [0.2, 0.3] as const;
const arrivalsByTitle: Readonly<Record<string, Arrivals>> = {
  '8 callers': { callers: 8 },
  '64 callers': { callers: 64 },
  '2 calls/s': { perSecond: 2 },
};
export const falseOpenArrivals = Object.keys(arrivalsByTitle);

export const falseOpen = grid(
  'falseOpens',
  'false-opens',
  cross(falseOpenRates, falseOpenArrivals),
  ([faultRate, arrivals], { seed, calls }) => ({
    variant: 'ours',
    faultRate,
    arrivals: arrivalsByTitle[arrivals]!,
    runs: Math.min(100, Math.max(10, Math.round(calls / 2000))),
    callsPerRun: Math.min(3000, Math.ceil(calls / 10)),
    seed: derive(seed, 400),
  }),
);

export const recoveryOutages = [5_000, 30_000, 90_000] as const;
export const RECOVERY_PER_SECOND = 100;
/** The upstream's capacity as a multiple of the calls; it sheds requests above it. */
export const RECOVERY_CAPACITY = 1.5;

export const recovery = grid(
  'recovery',
  'recovery',
  cross(recoveryOutages, comparedVariants),
  ([outageMs, variant], { seed }) => ({
    variant,
    outageMs,
    perSecond: RECOVERY_PER_SECOND,
    capacity: RECOVERY_CAPACITY,
    seed: derive(seed, 500),
  }),
);

export const cold = grid(
  'cold',
  'cold',
  cross(baselines, ownVariants),
  ([p95Ms, variant], { seed, calls }) => ({
    variant,
    p95Ms,
    perSecond: 100,
    runs: Math.min(1000, Math.max(20, Math.round(calls / 200))),
    seed: derive(seed, 600 + baselines.indexOf(p95Ms)),
  }),
);

const grids = [cell, condition, cold, outage, insideBurst, burst, falseOpen, recovery];

/** Every job of the full table. */
export function fullPlan(options: PlanOptions): Job[] {
  return grids.flatMap((one): Job[] => one.jobs(options));
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
