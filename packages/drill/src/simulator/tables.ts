import { type VariantName, variants } from './variants.js';
import {
  baselines,
  cellId,
  circumstanceVariants,
  circumstanceId,
  circumstances,
  comparedVariants,
  faultKinds,
  ownVariants,
} from './plan.js';
import type { Results } from './jobs.js';
import {
  change,
  duration,
  figure,
  type Figure,
  filled,
  percent,
  plain,
  type Table,
  times,
} from '../report/table.js';
import { faultModes, type FaultModeName } from './model.js';
import type { CellResult } from './cell.js';
import {
  BURST_THRESHOLD,
  LOAD_THRESHOLD,
  OPEN_THRESHOLD,
  OUTAGE_THRESHOLD,
  P95_THRESHOLD,
} from './objectives.js';
import * as plan from './plan.js';
import { AFTER_MS } from './outages.js';
import type { SweepName } from './sweeps.js';

/** Every cell with all that was measured in it. */
export function cellList(results: Results): Table {
  const modes = ['none', ...faultKinds] as const;
  const rows = modes.flatMap((faults) =>
    baselines.flatMap((p95Ms) =>
      (faults === 'none' ? ownVariants : comparedVariants).flatMap((variant) => {
        const cell = results.get('cell', cellId(faults, p95Ms, variant));
        if (cell === undefined) return [];
        const { low, high } = cell.interval;
        return [
          [
            `${faults}, ${duration(p95Ms)}`,
            variants[variant].title,
            percent(cell.success, 2),
            duration(cell.p50Ms),
            duration(cell.p95Ms),
            duration(cell.p99Ms),
            change(cell.ratio),
            `${change(low)} to ${change(high)}`,
            times(cell.load, 3),
            String(cell.maxAttempts),
            duration(cell.maxWallMs),
          ].map(plain),
        ];
      }),
    ),
  );
  return {
    title: 'Every cell',
    lead: 'p95 against the same calls without faults, with its 95 % interval (bootstrap over blocks of consecutive calls, paired with the calls without faults).',
    head: [
      'faults, own p95',
      'policy',
      'success',
      'p50',
      'p95',
      'p99',
      'p95 change',
      'interval',
      'load',
      'most attempts',
      'slowest',
    ],
    textColumns: 2,
    rows,
  };
}

/** p95 of all calls against the same calls without faults: every variant at every baseline. */
export function cellTables(results: Results): Table[] {
  return faultKinds
    .map((faults) => cellTable(results, faults))
    .filter(({ rows }) => rows.length > 0);
}

function cellTable(results: Results, faults: FaultModeName): Table {
  const rows = comparedVariants.map((variant) => {
    const cells = results.all(
      'cell',
      baselines.map((p95Ms) => cellId(faults, p95Ms, variant)),
    );
    return [
      plain(variants[variant].title),
      ...baselines.map((p95Ms) => p95Change(results.get('cell', cellId(faults, p95Ms, variant)))),
      figure(least(cells, 'success'), (share) => percent(share, 2)),
      figure(most(cells, 'load'), (load) => times(load)),
      figure(most(cells, 'maxWallMs'), duration),
    ];
  });
  return {
    title: `p95 with 20 % faults · ${faultModes[faults].title}`,
    lead: '',
    head: ['upstream’s own p95', ...baselines.map(duration), 'success', 'load', 'slowest'],
    rows: filled(rows),
  };
}

function p95Change(cell: CellResult | undefined): Figure {
  return figure(cell?.ratio, change, (ratio) => ratio <= P95_THRESHOLD);
}

function least(cells: readonly CellResult[], key: 'success'): number | undefined {
  return cells.length === 0 ? undefined : Math.min(...cells.map((cell) => cell[key]));
}

function most(
  cells: readonly CellResult[],
  key: 'load' | 'maxWallMs' | 'maxAttempts' | 'ratio',
): number | undefined {
  return cells.length === 0 ? undefined : Math.max(...cells.map((cell) => cell[key]));
}

/** The same two thresholds elsewhere. */
function circumstanceTable(results: Results): Table {
  const rows = circumstances.map(({ title }) => [
    plain(title),
    ...circumstanceVariants.flatMap(({ variant }) => {
      const cell = results.get('cell', circumstanceId(title, variant));
      return [
        p95Change(cell),
        figure(cell?.success, (share) => percent(share, 2)),
        figure(
          cell?.load,
          times,
          variant === 'hedged' ? (load) => load <= LOAD_THRESHOLD : undefined,
        ),
      ];
    }),
  ]);
  return {
    title: 'The same in other circumstances (upstream’s own p95: 200 ms)',
    lead: 'First three columns: our preset with fast faults. Last three: with hedging, one fault in five a timeout.',
    head: ['', 'fast', 'success', 'load', 'mix', 'success', 'load'],
    rows: filled(rows),
  };
}

const outageTitles = {
  crashes: 'crash',
  hangs: 'silence',
  turnsAway: 'closed door',
} as const;

function outageTable(results: Results): Table {
  const rows = plan.outageKinds.flatMap((kind) =>
    plan.outageRates.map((rate) => {
      const of = (variant: VariantName) =>
        results.get('outage', plan.outageId(kind, rate, variant));
      const ours = of('ours');
      return [
        plain(`${outageTitles[kind]}, ${rate}/s`),
        ...plan.outageVariants.map((variant) =>
          figure(of(variant)?.load, times, (load) => load <= OUTAGE_THRESHOLD),
        ),
        figure(ours?.opensAfterMs, duration),
        figure(
          ours?.loadOnceOpen,
          (load) => times(load, 3),
          (load) => load < OPEN_THRESHOLD,
        ),
        figure(ours?.meanMsToFail, duration),
      ];
    }),
  );
  return {
    title: 'A full outage, after all was well',
    lead: 'Requests that reach the upstream for each of the first 1,000 calls, retries of earlier calls included; when the circuit opens, and the requests for each call from then on; how long a caller waits for the bad news. Crash: all fails at once, what was under way too. Silence: nothing is ever answered. Closed door: what was under way is still answered and earns tokens, what comes is turned away. The thresholds are for the first two.',
    head: [
      'how, calls/s',
      'preset',
      'hedging',
      'no breaker',
      'opens after',
      'once open',
      'to fail',
    ],
    rows: filled(rows),
  };
}

/** Without a budget the load is the same at every rate. */
function rivalOutageTable(results: Results): Table {
  const rows = plan.outageRivals.map((variant) => {
    const result = results.get('outage', plan.outageId('crashes', 100, variant));
    const meetsOutage = (load: number): boolean => load <= OUTAGE_THRESHOLD;
    return [
      plain(variants[variant].title),
      figure(result?.load, times, meetsOutage),
      figure(result?.meanMsToFail, duration),
    ];
  });
  return {
    title: 'The same crash at 100 calls/s without budget and breaker',
    lead: '',
    head: ['', 'load', 'to fail'],
    rows: filled(rows),
  };
}

function burstTables(results: Results): Table[] {
  return plan.burstRates.map((rate) => ({
    title: `Outages that come and go, ${rate} calls/s: calls that succeed`,
    lead: 'Down for 20 % of the time, for as long as the column says on average; fast faults, upstream’s own p95 50 ms.',
    head: ['mean outage', ...plan.burstMeans.map(duration)],
    rows: filled(
      comparedVariants.map((variant) => [
        plain(variants[variant].title),
        ...plan.burstMeans.map((mean) => {
          const result = results.get('bursts', plan.burstId(mean, rate, variant));
          return figure(result?.success, (share) => percent(share));
        }),
      ]),
    ),
  }));
}

function insideBurstTable(results: Results): Table {
  const columns = plan.insideBurstLengths.flatMap((burstMs) =>
    plan.insideBurstRates.flatMap((perSecond) =>
      plan.insideBurstStarts.map((start) => ({ burstMs, perSecond, start })),
    ),
  );
  const rows = comparedVariants.map((variant) => [
    plain(variants[variant].title),
    ...columns.map((column) => {
      const ids = plan.insideBurstBaselines.map((p95Ms) =>
        plan.insideBurstId({ ...column, p95Ms }, variant),
      );
      const shares = results.all('insideBursts', ids).map(({ success }) => success);
      return figure(
        shares.length === 0 ? undefined : Math.min(...shares),
        (share) => percent(share),
        column.burstMs === 300 ? (share) => share >= BURST_THRESHOLD : undefined,
      );
    }),
  ]);
  return {
    title: 'Calls that begin inside a burst of instant failures: the share that succeeds',
    lead: `The upstream is well, except for bursts in which it answers every request with a 503 at once, 2.5 to 7.5 s apart. Warm: one process meets them all; cold: a process starts with each burst. The lowest of three upstreams whose own p95 is ${plan.insideBurstBaselines.map(duration).join(', ')}.`,
    head: [
      'burst, calls/s, start',
      ...columns.map(
        ({ burstMs, perSecond, start }) => `${duration(burstMs)}, ${perSecond}/s, ${start}`,
      ),
    ],
    rows: filled(rows),
  };
}

function falseOpenTable(results: Results): Table {
  const rows = plan.falseOpenRates.map((rate) => [
    plain(`${percent(rate, 0)} of requests fail`),
    ...plan.falseOpenArrivals.map(({ title }) => {
      const result = results.get('falseOpens', plan.falseOpenId(rate, title));
      return figure(
        result,
        ({ opened, runs }) => `${opened} of ${runs}`,
        ({ opened }) => opened === 0,
      );
    }),
  ]);
  return {
    title: 'Runs in which the circuit opened although most requests succeed',
    lead: '',
    head: ['', ...plan.falseOpenArrivals.map(({ title }) => title)],
    rows: filled(rows),
  };
}

function recoveryTable(results: Results): Table {
  const rows = comparedVariants.map((variant) => [
    plain(variants[variant].title),
    ...plan.recoveryOutages.flatMap((outageMs) => {
      const result = results.get('recovery', plan.recoveryId(outageMs, variant));
      return [
        figure(result?.recoversAfterMs, (ms) =>
          ms >= AFTER_MS ? `> ${duration(AFTER_MS)}` : duration(ms),
        ),
        figure(result?.peakLoad, times),
      ];
    }),
  ]);
  return {
    title: 'After an outage: time until service is good again, and the highest load in a second',
    lead: `${plan.RECOVERY_PER_SECOND} calls/s; the upstream can take ${plan.RECOVERY_CAPACITY} times as many and sheds the rest. Good: 90 % of a second’s calls answered within five times its p95, from then on; looked at for a minute. Mean of three outages of about that length.`,
    head: ['', ...plan.recoveryOutages.flatMap((ms) => [`${duration(ms)} outage`, 'peak'])],
    rows: filled(rows),
  };
}

function coldTable(results: Results): Table {
  const rows = ownVariants.map((variant) => [
    plain(variants[variant].title),
    ...baselines.flatMap((p95Ms) => {
      const result = results.get('cold', plan.coldId(p95Ms, variant));
      return [
        figure(result?.ratio, change, (ratio) => ratio <= P95_THRESHOLD),
        figure(result?.firstRatio, change, (ratio) => ratio <= P95_THRESHOLD),
      ];
    }),
  ]);
  return {
    title: 'From a cold start: p95 of the first 200 calls, and of the first 20 of them',
    lead: 'Fresh processes that know nothing of the upstream, fast faults, 100 calls/s.',
    head: ['upstream’s own p95', ...baselines.flatMap((ms) => [duration(ms), 'first 20'])],
    rows: filled(rows),
  };
}

/** Every table that has a row. */
export function tablesOf(results: Results): Table[] {
  return [
    ...cellTables(results),
    circumstanceTable(results),
    coldTable(results),
    outageTable(results),
    rivalOutageTable(results),
    insideBurstTable(results),
    ...burstTables(results),
    falseOpenTable(results),
    recoveryTable(results),
  ].filter(({ rows }) => rows.length > 0);
}

/** A figure of a table, by its row and column, for a sentence about it. */
type Quote = (row: string, column: string) => string;

export function quoteFrom({ title, head, rows }: Table): Quote {
  return (row, column) => {
    const at = head.indexOf(column);
    const found = rows.find(([first]) => first?.text.startsWith(row))?.[at];
    if (at < 0 || found === undefined) throw new Error(`${title} has no ${row} / ${column}`);
    return found.text;
  };
}

const shipped = 'as shipped';

/** Why each number is what it is, in the figures of its own table. */
export const reasoning: Record<SweepName, (quote: Quote) => string> = {
  alpha: (q) =>
    `Any α up to 1 meets the threshold with fast faults (${q(shipped, 'fast, 200 ms')} as shipped, ${q('α 1', 'fast, 200 ms')} at 1), and any wait of a fraction of a median is too short to outlast an outage: in bursts they hardly differ (${q(shipped, '200 ms outages, 100/s')} and ${q('α 1', '200 ms outages, 100/s')}), because there the later, longer waits decide. What decides is a fault that takes time: with half the time of an answer α 1 costs ${q('α 1', 'half, 200 ms')} and misses, 0.25 costs ${q(shipped, 'half, 200 ms')}. Smaller still gains nothing and spreads less. The seed's own caps ride out bursts best (${q('no scaling', '200 ms outages, 100/s')}) and cost ${q('no scaling', 'fast, 5 ms')} on a fast upstream: that is the contradiction in the requirement, and why the caps come back where a fault is not isolated, next.`,
  fallback: (q) =>
    `Short waits are right for single faults and wasted within an outage, so above a share of recent failures the seed's full caps take over. Without that (*never*) outages of 50 ms at 100 calls a second leave ${q('never', '50 ms outages, 100/s')} of calls, with it ${q(shipped, '50 ms outages, 100/s')}. More eager rules gain little there and pay with the tail at single faults: above 30 % of 16 the p95 at 5 ms is ${q('above 30 % of the last 16', 'p95 fast, 5 ms')}, and at 25 % faults ${q('above 30 % of the last 16', 'p95, 25 % faults')} against ${q(shipped, 'p95, 25 % faults')}. Shorter memories with higher thresholds come out the same.`,
  second: (q) =>
    `Two faults in a row are a coincidence where isolated faults are common, and a burst elsewhere. If the second retry always waited out a burst (*never quick*), the p95 at 20 % faults and 5 ms would be ${q('never quick', 'p95 fast, 5 ms')}: it concerns 4 % of the calls, and a p95 leaves room for 5 %. *Above 8 %* of answers that quick retries brought, it is quick, and the p95 stays at ${q(shipped, 'p95 fast, 5 ms')}. Up to about 9 % faults it waits, which no p95 notices (${q(shipped, 'p95, 10 % faults')} at 10 %). Quick retries bring next to no answers inside a burst, so that bursts do not teach it to hurry: ${q(shipped, 'inside 300 ms, warm')} of the calls that begin inside 300 ms succeed, ${q(shipped, 'inside 1 s, warm')} inside 1 s. Waits of 50 ms and more do not count as quick; on an upstream of 1 s half of the first waits are longer, so that a threshold of 16 % takes its isolated faults for bursts (${q('above 16 %', 'p95 half, 1 s')} against ${q(shipped, 'p95 half, 1 s')} where a fault takes half an answer).`,
  budget: (q) =>
    `*Half a token a success* lets every retry through up to about 30 % faults (${q(shipped, '30 %')}); 0.3 starves them there. *The capacity* is what a full outage costs in all, so the threshold of 1.1× over 1,000 calls leaves at most 100; 60 keeps room for hedges and for the tokens that requests under way still earn behind a closed door. *None for time alone*: 0.05 a second sounds like nothing and is ${q('60 tokens, 0.5 a success, 0.05 a second', 'crash 0.2/s')} for an agent that calls every five seconds. The price is paid in bursts at high rates: a second of outage at 100 calls a second would need two hundred retries, and the first second of a long outage looks just the same. Behind a closed door at 2000 calls a second the threshold is passed (${q(shipped, 'door 2000/s')}): some 190 requests are under way, their answers are real successes, and each earns half a retry.`,
  breaker: (q) =>
    `A circuit that opens at *50 %* opens falsely (${q('50 %', 'false, 2/s, 30 %')} runs at 2 calls a second and 30 % faults; at 40 % faults *70 %* does too, ${q('70 %', 'false, 2/s, 40 %')}). *80 %*, because below it callers lose more by an open circuit than by trying, and the budget bounds the load anyway. *In 10 s*: half of it opens sooner and cuts more short outages in two (${q('in 5 s', '5 s outages, 2/s')} of calls against ${q(shipped, '5 s outages, 2/s')} at 2 calls a second), twice as much takes ${q('in 20 s', 'silence 100/s')} to notice at 100 calls a second that nothing answers, instead of ${q(shipped, 'silence 100/s')}. *Of 20*: where each attempt takes six seconds to fail, 40 take longer to come together at 2 calls a second (${q('of 40', 'silence 2/s')} against ${q(shipped, 'silence 2/s')}). *For 1 s*: a circuit that *opens at once* takes a burst at the start of a process for an outage (${q('opens at once', 'inside 1 s, cold')} of the calls that begin inside a cold burst of 1 s succeed, against ${q(shipped, 'inside 1 s, cold')}), while *for 3 s* leaves an upstream that is down without relief for longer and gains nothing. *Open for 1 s at first*: most outages are short, and a circuit that stays open for 10 to 60 s makes longer ones of them (${q('open 10 to 60 s', '5 s outages, 2/s')}). Doubling up to *20 s* keeps the load of a long outage at ${q(shipped, 'load open')} even at 2 calls a second. *Two probes*: one success closes, both must fail to open again, so that a look at an upstream that has recovered to 20 % faults errs once in 25 times. No circuit at all would serve callers best in outages of seconds (${q('no breaker', '5 s outages, 2/s')}); it is there for the long ones, in which it spares the upstream and, when nothing answers, the callers their six seconds.`,
  hedge: (q) =>
    `p95 is the promise, so hedging has to come before it: after *p95* it comes too late when one fault in five is a timeout (${q('p95', 'mix, 200 ms')}). *p85* (${q(shipped, 'mix, 200 ms')}) leaves room under both thresholds and brings even faults as slow as answers to about the threshold (${q(shipped, 'same, 200 ms')}); *p75* gains little, because its tokens run out first. Without faults it costs a load too (${q(shipped, 'no faults')}): that is why hedging is opt-in. *0.2 a success* covers what p85 asks for, and *10 tokens* are all that hedging can add to an outage. While the upstream keeps failing a fault does not fire the second request at once, so that bursts cost no more than without hedging (${q(shipped, '200 ms outages, 100/s')} and ${q('no hedging', '200 ms outages, 100/s')} of calls succeed).`,
};
