import { type Arrivals, derive, type FaultModeName, type OutageKind } from './model.js';
import { RECOVERY_CAPACITY, RECOVERY_PER_SECOND } from './plan.js';
import { change, duration, percent, times } from '../report/table.js';
import { type BurstStart, callsForBursts } from './bursts.js';
import type { CellResult } from './cell.js';
import type { OutageResult } from './outages.js';
import { measure, type Measure } from './sweeps.js';

/** A sweep is many cells, each smaller than those of the table. */
const PART = 5;

/** One cell: its p95 against no faults, unless something else of it is asked for. */
export function cell(
  title: string,
  about: { faults: FaultModeName; p95Ms: number; faultRate?: number; arrivals?: Arrivals },
  show: (result: CellResult) => string = ({ ratio }) => change(ratio),
): Measure {
  const { p95Ms, arrivals = { perSecond: 100 }, ...faults } = about;
  return measure(
    title,
    'cell',
    ({ seed, calls }) => ({
      ...faults,
      arrivals,
      calls: Math.ceil(calls / PART),
      latency: { p95Ms, sigma: 0.5 },
      seed: derive(seed, 700),
    }),
    show,
  );
}

export const p99 = ({ p99Ms }: CellResult): string => duration(p99Ms);
const load = (result: { readonly load: number }): string => times(result.load);
export const success = (result: { readonly success: number }): string => percent(result.success);

/** Calls that succeed while the upstream comes and goes. */
export function bursts(meanMs: number, perSecond: number): Measure {
  return measure(
    `${duration(meanMs)} outages, ${perSecond}/s`,
    'bursts',
    ({ seed, calls }) => ({
      meanMs,
      perSecond,
      calls: callsForBursts(calls / (perSecond < 10 ? 4 * PART : PART), meanMs, perSecond),
      seed: derive(seed, 710),
    }),
    success,
  );
}

/** Calls that succeed although they begin inside a burst of instant failures, at 20 calls a second. */
export function insideBursts(burstMs: number, start: BurstStart): Measure {
  return measure(
    `inside ${duration(burstMs)}, ${start}`,
    'insideBursts',
    ({ seed, calls }) => ({
      burstMs,
      start,
      perSecond: 20,
      p95Ms: 200,
      calls: Math.min(1_000, Math.ceil(calls / 50)),
      seed: derive(seed, 715),
    }),
    success,
  );
}

export function outage(
  title: string,
  kind: OutageKind,
  perSecond: number,
  show: (result: OutageResult) => string = load,
): Measure {
  return measure(
    title,
    'outage',
    ({ seed }) => ({ outage: kind, perSecond, seed: derive(seed, 720) }),
    show,
  );
}

export function falseOpens(title: string, faultRate: number, arrivals: Arrivals): Measure {
  return measure(
    title,
    'falseOpens',
    ({ seed, calls }) => ({
      faultRate,
      arrivals,
      runs: Math.min(60, Math.max(5, Math.round(calls / 3000))),
      callsPerRun: Math.min(2000, Math.ceil(calls / 10)),
      seed: derive(seed, 730),
    }),
    ({ opened, runs }) => `${opened} of ${runs}`,
  );
}

export function recovery(outageMs: number): Measure {
  return measure(
    `back after ${duration(outageMs)}`,
    'recovery',
    ({ seed }) => ({
      outageMs,
      perSecond: RECOVERY_PER_SECOND,
      capacity: RECOVERY_CAPACITY,
      seed: derive(seed, 740),
    }),
    ({ recoversAfterMs }) => duration(recoversAfterMs),
  );
}
