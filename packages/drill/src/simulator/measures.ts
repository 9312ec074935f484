import {
  change,
  duration,
  type Figure,
  percent,
  plain,
  type Table,
  times,
} from '../report/table.js';
import { type BurstStart, callsForBursts } from './bursts.js';
import type { CellResult } from './cell.js';
import type { Job, JobKind, ResultOf, Results, VariantSpec } from './jobs.js';
import { type Arrivals, derive, type FaultModeName, type OutageKind } from './model.js';
import type { OutageResult } from './outages.js';
import { type PlanOptions, RECOVERY_CAPACITY, RECOVERY_PER_SECOND } from './plan.js';

/** A column of a sweep: the job to run for a choice, and the figure to show of its result. */
interface Measure {
  readonly title: string;
  job(id: string, variant: VariantSpec, options: PlanOptions): Job;
  show(results: Results, id: string): Figure;
}

/** Reads a figure of a table by row and column, for a sentence about it. */
type Quote = (row: string, column: string) => string;

/** Alternative values of a setting side by side. The first choice is the shipped one. */
export interface Sweep {
  readonly title: string;
  readonly lead: string;
  readonly choices: readonly { readonly title: string; readonly variant: VariantSpec }[];
  readonly measures: readonly Measure[];
  /** Why the shipped value was chosen, with figures of the table. */
  readonly explanation: (quote: Quote) => string;
}

const idOf = (choice: string, { title }: Measure): string => `sweep/${choice}/${title}`;

export function sweepJobs({ choices, measures }: Sweep, options: PlanOptions): Job[] {
  return choices.flatMap(({ title, variant }) =>
    measures.map((one) => one.job(idOf(title, one), variant, options)),
  );
}

export function sweepTable({ title, lead, choices, measures }: Sweep, results: Results): Table {
  return {
    title,
    lead,
    head: ['', ...measures.map((one) => one.title)],
    rows: choices.map((choice) => [
      plain(choice.title),
      ...measures.map((one) => one.show(results, idOf(choice.title, one))),
    ]),
  };
}

export function quoteFrom({ title, head, rows }: Table): Quote {
  return (row, column) => {
    const at = head.indexOf(column);
    const found = rows.find(([first]) => first?.text.startsWith(row))?.[at];
    if (at < 0 || found === undefined) throw new Error(`${title} has no ${row} / ${column}`);
    return found.text;
  };
}

function measure<K extends JobKind>(
  title: string,
  kind: K,
  optionsOf: (options: PlanOptions) => Omit<Job<K>['options'], 'variant'>,
  show: (result: ResultOf<K>) => string,
): Measure {
  return {
    title,
    job: (id, variant, options) =>
      ({ id, kind, options: { ...optionsOf(options), variant } }) as Job,
    show: (results, id) => {
      const result = results.get(kind, id);
      return plain(result === undefined ? '–' : show(result));
    },
  };
}

/** A sweep has many cells, each this much smaller than those of the table. */
const PART = 5;

/** One cell; by default its p95 against the baseline. */
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

/** The share of calls that succeed during intermittent outages. */
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

/** The share of calls begun inside a burst of instant failures that succeed, at 20 calls/s. */
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
