import { change, duration, type Figure, plain, type Table, times } from '../report/table.js';
import type { VariantSpec, Job, JobKind, ResultOf, Results } from './jobs.js';
import type { PlanOptions } from './plan.js';
import {
  type BreakerOptions,
  type BudgetOptions,
  type HedgeOptions,
  presets,
} from '@toolkeel/kernel';
import {
  bursts,
  cell,
  falseOpens,
  insideBursts,
  outage,
  p99,
  recovery,
  success,
} from './measures.js';
import type { OutageResult } from './outages.js';
import type { CellResult } from './cell.js';

/** What is looked at for each choice: a job, and the figure that its result gives. */
export interface Measure {
  readonly title: string;
  job(id: string, variant: VariantSpec, options: PlanOptions): Job;
  show(results: Results, id: string): Figure;
}

/** Some choices of numbers side by side. The first is what is shipped. */
interface Sweep {
  readonly title: string;
  readonly lead: string;
  readonly choices: readonly { readonly title: string; readonly variant: VariantSpec }[];
  readonly measures: readonly Measure[];
}

export function measure<K extends JobKind>(
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

const scaled = (medianScale: number) => {
  const title = `α ${medianScale}`;
  return { title, variant: { title, policy: { medianScale } } };
};

/** How long the first wait may be, in medians of the upstream. */
const alpha: Sweep = {
  title: 'α: the first wait in medians of the upstream',
  lead: 'p95 of all calls at 20 % faults, and calls that succeed while a 50 ms upstream comes and goes.',
  choices: [
    { title: `as shipped: α ${presets.stac.medianScale}`, variant: 'ours' },
    ...[0.1, 0.5, 0.75, 1].map(scaled),
    { title: 'no scaling: the seed’s caps', variant: 'seed' },
  ],
  measures: [
    cell('fast, 5 ms', { faults: 'fast', p95Ms: 5 }),
    cell('fast, 200 ms', { faults: 'fast', p95Ms: 200 }),
    cell('fast, 2 s', { faults: 'fast', p95Ms: 2000 }),
    cell('half, 200 ms', { faults: 'half', p95Ms: 200 }),
    bursts(50, 100),
    bursts(200, 100),
    bursts(200, 2),
  ],
};

const memory = (recent: number, failingShare: number) => {
  const title = `above ${failingShare * 100} % of the last ${recent}`;
  return { title, variant: { title, health: { recent, failingShare } } };
};

/** When short waits give way to the seed's caps. */
const fallback: Sweep = {
  title: 'Sustained failure: when the full caps take over from short waits',
  lead: 'Falling back early rides out bursts and lengthens the tail at single faults; at 25 % faults an early fallback becomes the rule.',
  choices: [
    { title: 'as shipped: above 40 % of the last 16', variant: 'ours' },
    memory(16, 0.3),
    memory(16, 0.5),
    memory(8, 0.4),
    memory(8, 0.5),
    memory(12, 0.4),
    memory(32, 0.3),
    memory(32, 0.4),
    { title: 'never', variant: { title: 'never', health: { failingShare: 1 } } },
  ],
  measures: [
    cell('p95 fast, 5 ms', { faults: 'fast', p95Ms: 5 }),
    cell('its p99', { faults: 'fast', p95Ms: 5 }, p99),
    cell('p95, 64 callers', { faults: 'fast', p95Ms: 5, arrivals: { callers: 64 } }),
    cell('p95, 25 % faults', { faults: 'fast', p95Ms: 5, faultRate: 0.25 }),
    bursts(50, 100),
    bursts(200, 100),
    bursts(50, 2),
    bursts(200, 2),
  ],
};

const isolated = (isolatedShare: number, title: string) => ({
  title,
  variant: { title, health: { isolatedShare } },
});

/** When the second retry is as quick as the first. */
const second: Sweep = {
  title: 'The second retry: when two faults in a row are taken for a burst',
  lead: 'The second retry waits out a burst unless more than a share of recent answers came from quick retries.',
  choices: [
    { title: 'as shipped: above 8 %', variant: 'ours' },
    isolated(0.02, 'above 2 %'),
    isolated(0.04, 'above 4 %'),
    isolated(0.12, 'above 12 %'),
    isolated(0.16, 'above 16 %'),
    isolated(1, 'never quick'),
  ],
  measures: [
    cell('p95 fast, 5 ms', { faults: 'fast', p95Ms: 5 }),
    cell('its p99', { faults: 'fast', p95Ms: 5 }, p99),
    cell('p95 fast, 1 s', { faults: 'fast', p95Ms: 1000 }),
    cell('p95 half, 1 s', { faults: 'half', p95Ms: 1000 }),
    cell('p95, 10 % faults', { faults: 'fast', p95Ms: 5, faultRate: 0.1 }),
    insideBursts(300, 'warm'),
    insideBursts(1000, 'warm'),
    bursts(50, 100),
    bursts(200, 2),
  ],
};

const { breaker: shippedBreaker, ...unbroken } = presets.stac;

const breakerChoice = (title: string, changed: Partial<BreakerOptions>) => {
  const only = shippedBreaker
    ? { ...unbroken, breaker: { ...shippedBreaker, ...changed } }
    : unbroken;
  return { title, variant: { title, only } };
};

const opens = ({ opensAfterMs }: OutageResult): string =>
  opensAfterMs === undefined ? 'never' : duration(opensAfterMs);
const onceOpen = ({ loadOnceOpen }: OutageResult): string =>
  loadOnceOpen === undefined ? '–' : times(loadOnceOpen, 3);

/** When to open, for how long, and how to look again. */
const breaker: Sweep = {
  title: 'Breaker: when it opens, for how long, and what that costs',
  lead: 'Runs that open falsely at 30 and 40 % faults; time until it opens in an outage and load once it has; calls that succeed while the upstream comes and goes; time until service is good again after an outage.',
  choices: [
    { title: 'as shipped: 80 % of 20 in 10 s for 1 s, open 1 to 20 s, 2 probes', variant: 'ours' },
    breakerChoice('50 %', { failureShare: 0.5 }),
    breakerChoice('70 %', { failureShare: 0.7 }),
    breakerChoice('of 10', { minimumAttempts: 10 }),
    breakerChoice('of 40', { minimumAttempts: 40 }),
    breakerChoice('in 5 s', { windowMs: 5_000 }),
    breakerChoice('in 20 s', { windowMs: 20_000 }),
    breakerChoice('opens at once', { openAfterMs: 0 }),
    breakerChoice('for 3 s', { openAfterMs: 3_000 }),
    breakerChoice('open 2 to 30 s', { openMs: 2_000, maxOpenMs: 30_000 }),
    breakerChoice('open 10 to 60 s', { openMs: 10_000, maxOpenMs: 60_000 }),
    breakerChoice('1 probe', { probes: 1 }),
    breakerChoice('5 probes', { probes: 5 }),
    { title: 'no breaker', variant: { title: 'no breaker', only: unbroken } },
  ],
  measures: [
    falseOpens('false, 64 callers, 30 %', 0.3, { callers: 64 }),
    falseOpens('false, 2/s, 30 %', 0.3, { perSecond: 2 }),
    falseOpens('false, 2/s, 40 %', 0.4, { perSecond: 2 }),
    outage('crash 2/s', 'crashes', 2, opens),
    outage('load open', 'crashes', 2, onceOpen),
    outage('silence 2/s', 'hangs', 2, opens),
    outage('crash 100/s', 'crashes', 100, opens),
    outage('silence 100/s', 'hangs', 100, opens),
    insideBursts(1000, 'cold'),
    bursts(1000, 100),
    bursts(5000, 100),
    bursts(5000, 2),
    recovery(30_000),
  ],
};

const name = ({ capacity, perSuccess, perSecond }: BudgetOptions): string =>
  `${capacity} tokens, ${perSuccess} a success, ${perSecond} a second`;

/** Without the breaker, which would hide what the budget does. */
const tokens = (numbers: BudgetOptions, shippedBudget = false) => {
  const { breaker: _, ...policy } = presets.stac;
  const title = shippedBudget ? `as shipped: ${name(numbers)}` : name(numbers);
  return { title, variant: { title, only: { ...policy, budget: numbers } } };
};

const none: BudgetOptions = { capacity: 0, perSuccess: 0, perSecond: 0 };
const shippedBudget: BudgetOptions = { ...none, ...presets.stac.budget };
const other = (changed: Partial<BudgetOptions>) => tokens({ ...shippedBudget, ...changed });

/** What retries an upstream can be asked to bear. */
const budget: Sweep = {
  title: 'Budget: tokens, and what brings them back (no breaker)',
  lead: 'Success at 20, 30 and 40 % fast faults; load in a crash over the first 1,000 calls at four rates, and behind a closed door where requests under way are still answered and earn tokens; calls that succeed in bursts.',
  choices: [
    tokens(shippedBudget, true),
    other({ capacity: 20 }),
    other({ capacity: 50 }),
    other({ capacity: 70 }),
    other({ capacity: 100 }),
    other({ perSuccess: 0.1 }),
    other({ perSuccess: 0.3 }),
    other({ perSuccess: 1 }),
    other({ perSecond: 0.05 }),
    other({ perSecond: 1 }),
    { title: 'no budget: the seed’s policy', variant: 'seed' },
  ],
  measures: [
    ...[0.2, 0.3, 0.4].map((faultRate) =>
      cell(`${faultRate * 100} %`, { faults: 'fast', p95Ms: 200, faultRate }, success),
    ),
    ...[0.2, 2, 100, 2000].map((rate) => outage(`crash ${rate}/s`, 'crashes', rate)),
    ...[100, 2000].map((rate) => outage(`door ${rate}/s`, 'turnsAway', rate)),
    bursts(50, 100),
    bursts(200, 100),
    bursts(1000, 100),
  ],
};

const hedgeChoice = (title: string, hedge: Partial<HedgeOptions>) => ({
  title,
  variant: { title, hedge },
});
const both = ({ ratio, load }: CellResult): string => `${change(ratio)} at ${times(load)}`;

/** When the second request goes out, and how many there may be. */
const hedge: Sweep = {
  title: 'Hedge: after which quantile, and paid by what',
  lead: 'p95 of all calls and load, at 20 % faults of three kinds and without any; load in an outage in which nothing answers; calls that succeed in bursts.',
  choices: [
    { title: 'as shipped: p85, 10 tokens, 0.2 a success', variant: 'hedged' },
    hedgeChoice('p75', { quantile: 0.75 }),
    hedgeChoice('p75, 0.3 a success', { quantile: 0.75, perSuccess: 0.3 }),
    hedgeChoice('p80', { quantile: 0.8 }),
    hedgeChoice('p90', { quantile: 0.9 }),
    hedgeChoice('p95', { quantile: 0.95 }),
    hedgeChoice('0.1 a success', { perSuccess: 0.1 }),
    hedgeChoice('0.3 a success', { perSuccess: 0.3 }),
    hedgeChoice('20 tokens', { capacity: 20 }),
    { title: 'no hedging', variant: 'ours' },
  ],
  measures: [
    cell('mix, 5 ms', { faults: 'mix', p95Ms: 5 }, both),
    cell('mix, 200 ms', { faults: 'mix', p95Ms: 200 }, both),
    cell('same, 200 ms', { faults: 'same', p95Ms: 200 }, both),
    cell('fast, 200 ms', { faults: 'fast', p95Ms: 200 }, both),
    cell('no faults', { faults: 'none', p95Ms: 200 }, both),
    outage('silence, 100/s', 'hangs', 100),
    bursts(200, 100),
  ],
};

/** The numbers that were tuned here, and how to see what another choice would do. */
export const sweeps = { alpha, fallback, second, budget, breaker, hedge } as const satisfies Record<
  string,
  Sweep
>;

export type SweepName = keyof typeof sweeps;
export const sweepNames = Object.keys(sweeps) as SweepName[];
