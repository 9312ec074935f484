import {
  type BreakerOptions,
  type BudgetOptions,
  type HedgeOptions,
  presets,
} from '@toolkeel/kernel';
import { change, duration, times } from '../report/table.js';
import type { CellResult } from './cell.js';
import {
  bursts,
  cell,
  falseOpens,
  insideBursts,
  outage,
  p99,
  recovery,
  success,
  type Sweep,
} from './measures.js';
import type { OutageResult } from './outages.js';

const shipped = 'as shipped';

const scaled = (medianScale: number) => {
  const title = `α ${medianScale}`;
  return { title, variant: { title, policy: { medianScale } } };
};

/** The cap of the first backoff, in medians of the upstream's latency. */
const alpha: Sweep = {
  title: 'α: the first backoff, in medians of the upstream’s latency',
  lead: 'p95 of all calls at 20 % faults, and calls that succeed during intermittent outages of a 50 ms upstream.',
  choices: [
    { title: `as shipped: α ${presets.stac.medianScale}`, variant: 'ours' },
    ...[0.1, 0.5, 0.75, 1].map(scaled),
    { title: 'no scaling: fixed caps', variant: 'seed' },
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
  explanation: (q) =>
    `Every α up to 1 meets the threshold with fast faults (${q(shipped, 'fast, 200 ms')} as shipped, ${q('α 1', 'fast, 200 ms')} at 1). In bursts the values hardly differ (${q(shipped, '200 ms outages, 100/s')} and ${q('α 1', '200 ms outages, 100/s')}), because a fraction of a median is shorter than any outage and the later, longer backoffs decide. Slow faults decide: if a fault takes half the time of an answer, α 1 costs ${q('α 1', 'half, 200 ms')} and misses the threshold, 0.25 costs ${q(shipped, 'half, 200 ms')}. Smaller values gain nothing and spread retries less. Fixed caps survive bursts best (${q('no scaling', '200 ms outages, 100/s')}) but cost ${q('no scaling', 'fast, 5 ms')} on a fast upstream. The next table combines both: full caps where faults are not isolated.`,
};

const memory = (recent: number, failingShare: number) => {
  const title = `above ${failingShare * 100} % of the last ${recent}`;
  return { title, variant: { title, health: { recent, failingShare } } };
};

/** When short backoffs give way to the full caps. */
const fallback: Sweep = {
  title: 'Sustained failure: when the full caps replace short backoffs',
  lead: 'An early fallback survives bursts and lengthens the tail at isolated faults; at 25 % faults it applies most of the time.',
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
  explanation: (q) =>
    `Short backoffs suit isolated faults and are wasted during an outage, so above a share of recent failures the full caps take over. Without this rule (*never*), ${q('never', '50 ms outages, 100/s')} of calls succeed during outages of 50 ms at 100 calls/s; with it, ${q(shipped, '50 ms outages, 100/s')}. Lower thresholds gain little there and lengthen the tail at isolated faults: above 30 % of 16 the p95 at 5 ms is ${q('above 30 % of the last 16', 'p95 fast, 5 ms')}, and at 25 % faults ${q('above 30 % of the last 16', 'p95, 25 % faults')} against ${q(shipped, 'p95, 25 % faults')}. Shorter windows with higher thresholds give the same results.`,
};

const isolated = (isolatedShare: number, title: string) => ({
  title,
  variant: { title, health: { isolatedShare } },
});

/** When the second retry is as quick as the first. */
const second: Sweep = {
  title: 'The second retry: when two consecutive faults count as a burst',
  lead: 'The second retry waits longer than a burst, unless quick retries produced more than a share of the recent answers.',
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
  explanation: (q) =>
    `Two consecutive faults are a coincidence where isolated faults are common, and a burst elsewhere. If the second retry always waited longer than a burst (*never quick*), the p95 at 20 % faults and 5 ms would be ${q('never quick', 'p95 fast, 5 ms')}: the second retry affects 4 % of the calls, and a p95 ignores 5 %. It is quick when quick retries produced *above 8 %* of recent answers, and the p95 stays at ${q(shipped, 'p95 fast, 5 ms')}. Below about 9 % faults it waits, with no effect on the p95 (${q(shipped, 'p95, 10 % faults')} at 10 %). Quick retries produce almost no answers inside a burst, so a burst does not make the second retry quick: ${q(shipped, 'inside 300 ms, warm')} of the calls that begin inside a burst of 300 ms succeed, ${q(shipped, 'inside 1 s, warm')} inside 1 s. Backoffs of 50 ms and more do not count as quick; at a baseline of 1 s half of the first backoffs are longer, so a threshold of 16 % classifies isolated faults as bursts (${q('above 16 %', 'p95 half, 1 s')} against ${q(shipped, 'p95 half, 1 s')} where a fault takes half an answer).`,
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

/** When the circuit opens, for how long, and how it probes. */
const breaker: Sweep = {
  title: 'Breaker: when it opens, for how long, and the cost',
  lead: 'Runs with a false opening at 30 and 40 % faults; time until the circuit opens in an outage and the load afterwards; calls that succeed during intermittent outages; time to recover after an outage.',
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
    outage('no response 2/s', 'hangs', 2, opens),
    outage('crash 100/s', 'crashes', 100, opens),
    outage('no response 100/s', 'hangs', 100, opens),
    insideBursts(1000, 'cold'),
    bursts(1000, 100),
    bursts(5000, 100),
    bursts(5000, 2),
    recovery(30_000),
  ],
  explanation: (q) =>
    `A circuit that opens at *50 %* failures opens falsely (${q('50 %', 'false, 2/s, 30 %')} runs at 2 calls/s and 30 % faults); at 40 % faults *70 %* does too (${q('70 %', 'false, 2/s, 40 %')}). *80 %*: below it an open circuit costs callers more than retrying, and the budget bounds the load anyway. *In 10 s*: a window of 5 s opens sooner and interrupts more short outages (${q('in 5 s', '5 s outages, 2/s')} of calls succeed against ${q(shipped, '5 s outages, 2/s')} at 2 calls/s); a window of 20 s needs ${q('in 20 s', 'no response 100/s')} to detect an upstream without responses at 100 calls/s, instead of ${q(shipped, 'no response 100/s')}. *Of 20*: where each attempt takes six seconds to fail, 40 failures take longer to accumulate at 2 calls/s (${q('of 40', 'no response 2/s')} against ${q(shipped, 'no response 2/s')}). *For 1 s*: a circuit that *opens at once* treats a burst at process start as an outage (${q('opens at once', 'inside 1 s, cold')} of the calls that begin inside a cold burst of 1 s succeed, against ${q(shipped, 'inside 1 s, cold')}); *for 3 s* loads a failing upstream for longer and gains nothing. *Open for 1 s at first*: most outages are short, and a circuit that stays open for 10 to 60 s prolongs them (${q('open 10 to 60 s', '5 s outages, 2/s')}). Doubling up to *20 s* keeps the load of a long outage at ${q(shipped, 'load open')} even at 2 calls/s. *Two probes*: one success closes the circuit and both must fail to reopen it, so a probe of an upstream that recovered to 20 % faults errs once in 25 times. Without a breaker more calls would succeed in outages of seconds (${q('no breaker', '5 s outages, 2/s')}); the breaker is for long outages, in which it relieves the upstream and, if nothing responds, spares callers the timeout of six seconds.`,
};

const name = ({ capacity, perSuccess, perSecond }: BudgetOptions): string =>
  `${capacity} tokens, ${perSuccess} a success, ${perSecond} a second`;

/** Without the breaker, which would hide the effect of the budget. */
const tokens = (numbers: BudgetOptions, shippedBudget = false) => {
  const { breaker: _, ...policy } = presets.stac;
  const title = shippedBudget ? `as shipped: ${name(numbers)}` : name(numbers);
  return { title, variant: { title, only: { ...policy, budget: numbers } } };
};

const none: BudgetOptions = { capacity: 0, perSuccess: 0, perSecond: 0 };
const shippedBudget: BudgetOptions = { ...none, ...presets.stac.budget };
const other = (changed: Partial<BudgetOptions>) => tokens({ ...shippedBudget, ...changed });

/** How many retries the budget allows. */
const budget: Sweep = {
  title: 'Budget: capacity and refill (no breaker)',
  lead: 'Success at 20, 30 and 40 % fast faults; load over the first 1,000 calls of a crash at four rates, and of an upstream that rejects new requests while in-flight requests still succeed and earn tokens; calls that succeed during intermittent outages.',
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
    { title: 'no budget: fixed caps', variant: 'seed' },
  ],
  measures: [
    ...[0.2, 0.3, 0.4].map((faultRate) =>
      cell(`${faultRate * 100} %`, { faults: 'fast', p95Ms: 200, faultRate }, success),
    ),
    ...[0.2, 2, 100, 2000].map((rate) => outage(`crash ${rate}/s`, 'crashes', rate)),
    ...[100, 2000].map((rate) => outage(`rejecting ${rate}/s`, 'turnsAway', rate)),
    bursts(50, 100),
    bursts(200, 100),
    bursts(1000, 100),
  ],
  explanation: (q) =>
    `*0.5 tokens a success* allow every retry up to about 30 % faults (${q(shipped, '30 %')}); 0.3 does not. *The capacity* bounds the extra load of a full outage, so the threshold of 1.1× over 1,000 calls allows at most 100; 60 leaves room for hedges and for the tokens that in-flight requests still earn from an upstream that rejects new ones. *No refill over time*: even 0.05 tokens a second cost ${q('60 tokens, 0.5 a success, 0.05 a second', 'crash 0.2/s')} for an agent that calls every five seconds. The trade-off is bursts at high rates: one second of outage at 100 calls/s would need 200 retries, and the first second of a long outage looks the same. If the upstream rejects new requests at 2000 calls/s, the load exceeds the threshold (${q(shipped, 'rejecting 2000/s')}): about 190 requests are in flight, and each of their successes earns half a retry.`,
};

const hedgeChoice = (title: string, hedge: Partial<HedgeOptions>) => ({
  title,
  variant: { title, hedge },
});
const both = ({ ratio, load }: CellResult): string => `${change(ratio)} at ${times(load)}`;

/** When the second request is sent, and how many are allowed. */
const hedge: Sweep = {
  title: 'Hedge: delay quantile and token refill',
  lead: 'p95 of all calls and load, at 20 % faults of three modes and without faults; load in an outage without responses; calls that succeed during intermittent outages.',
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
    outage('no response, 100/s', 'hangs', 100),
    bursts(200, 100),
  ],
  explanation: (q) =>
    `The threshold is on p95, so the hedge must be sent before it: after *p95* is too late if one fault in five is a timeout (${q('p95', 'mix, 200 ms')}). *p85* (${q(shipped, 'mix, 200 ms')}) leaves margin under both thresholds and brings even faults as slow as answers close to the threshold (${q(shipped, 'same, 200 ms')}); *p75* gains little, because it runs out of tokens. Hedging adds load without faults too (${q(shipped, 'no faults')}), which is why it is opt-in. *0.2 tokens a success* cover the hedges of p85, and *10 tokens* bound what hedging adds to an outage. While the upstream keeps failing, a fault does not trigger the second request immediately, so hedging does not cost success in bursts (${q(shipped, '200 ms outages, 100/s')} against ${q('no hedging', '200 ms outages, 100/s')} without hedging).`,
};

/** The settings that were tuned with this simulator. */
export const sweeps = { alpha, fallback, second, budget, breaker, hedge } as const satisfies Record<
  string,
  Sweep
>;

export type SweepName = keyof typeof sweeps;
export const sweepNames = Object.keys(sweeps) as SweepName[];
