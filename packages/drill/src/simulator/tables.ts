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
import type { Results } from './jobs.js';
import { faultModes, type FaultModeName } from './model.js';
import {
  BURST_THRESHOLD,
  LOAD_THRESHOLD,
  OPEN_THRESHOLD,
  OUTAGE_THRESHOLD,
  P95_THRESHOLD,
} from './objectives.js';
import { AFTER_MS } from './outages.js';
import * as plan from './plan.js';
import { type VariantName, variants } from './variants.js';

const { baselines, comparedVariants, cross } = plan;

/** One row for each variant that has a figure. */
function variantRows(
  names: readonly VariantName[],
  figuresOf: (variant: VariantName) => readonly Figure[],
): Table['rows'] {
  return filled(names.map((name) => [plain(variants[name].title), ...figuresOf(name)]));
}

const p95Figure = (ratio: number | undefined): Figure =>
  figure(ratio, change, (value) => value <= P95_THRESHOLD);
const shareFigure = (share: number | undefined, digits?: number): Figure =>
  figure(share, (value) => percent(value, digits));
const outageLoad = (load: number | undefined): Figure =>
  figure(load, times, (value) => value <= OUTAGE_THRESHOLD);

/** Every figure of every cell. */
export function cellList(results: Results): Table {
  const rows = plan.cells.flatMap(([faults, p95Ms, variant]) => {
    const cell = plan.cell.of(results, faults, p95Ms, variant);
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
  });
  return {
    title: 'Every cell',
    lead: 'p95 relative to the same calls without faults, with its 95 % interval (bootstrap over blocks of consecutive calls, paired with the calls without faults).',
    head: [
      'faults, baseline p95',
      'policy',
      'success',
      'p50',
      'p95',
      'p99',
      'p95 change',
      'interval',
      'load',
      'max attempts',
      'slowest',
    ],
    textColumns: 2,
    rows,
  };
}

/** p95 of all calls relative to the same calls without faults: every variant at every baseline. */
export function cellTables(results: Results): Table[] {
  return plan.faultKinds
    .map((faults) => cellTable(results, faults))
    .filter(({ rows }) => rows.length > 0);
}

function cellTable(results: Results, faults: FaultModeName): Table {
  return {
    title: `p95 with 20 % faults · ${faultModes[faults].title}`,
    lead: '',
    head: ['baseline p95', ...baselines.map(duration), 'success', 'load', 'slowest'],
    rows: variantRows(comparedVariants, (variant) => {
      const cells = baselines.map((p95Ms) => plan.cell.of(results, faults, p95Ms, variant));
      const worst = (key: 'success' | 'load' | 'maxWallMs', pick: typeof Math.max) => {
        const values = cells.flatMap((cell) => cell?.[key] ?? []);
        return values.length === 0 ? undefined : pick(...values);
      };
      return [
        ...cells.map((cell) => p95Figure(cell?.ratio)),
        shareFigure(worst('success', Math.min), 2),
        figure(worst('load', Math.max), (load) => times(load)),
        figure(worst('maxWallMs', Math.max), duration),
      ];
    }),
  };
}

function conditionTable(results: Results): Table {
  return {
    title: 'Other conditions (baseline p95: 200 ms)',
    lead: 'First three columns: our preset with fast faults. Last three: with hedging, one fault in five a timeout.',
    head: ['', 'fast', 'success', 'load', 'mix', 'success', 'load'],
    rows: filled(
      plan.conditionTitles.map((title) => [
        plain(title),
        ...plan.ownVariants.flatMap((variant) => {
          const cell = plan.condition.of(results, title, variant);
          const meets = variant === 'hedged' ? (load: number) => load <= LOAD_THRESHOLD : undefined;
          return [
            p95Figure(cell?.ratio),
            shareFigure(cell?.success, 2),
            figure(cell?.load, times, meets),
          ];
        }),
      ]),
    ),
  };
}

const outageTitles = { crashes: 'crash', hangs: 'no response', turnsAway: 'rejecting' } as const;

function outageTable(results: Results): Table {
  return {
    title: 'A full outage of a healthy upstream',
    lead: 'Requests that reach the upstream for each of the first 1,000 calls, retries of earlier calls included; the time until the circuit opens, and the requests for each call afterwards; the mean time until a call fails. Crash: every request fails at once, in-flight requests too. No response: no request is ever answered. Rejecting: in-flight requests are still answered and earn tokens, new requests are rejected. The thresholds apply to the first two.',
    head: [
      'outage, calls/s',
      'preset',
      'hedging',
      'no breaker',
      'opens after',
      'once open',
      'to fail',
    ],
    rows: filled(
      cross(plan.outageKinds, plan.outageRates).map(([kind, rate]) => {
        const of = (variant: VariantName) => plan.outage.of(results, kind, rate, variant);
        const ours = of('ours');
        return [
          plain(`${outageTitles[kind]}, ${rate}/s`),
          ...plan.outageVariants.map((variant) => outageLoad(of(variant)?.load)),
          figure(ours?.opensAfterMs, duration),
          figure(
            ours?.loadOnceOpen,
            (load) => times(load, 3),
            (load) => load < OPEN_THRESHOLD,
          ),
          figure(ours?.meanMsToFail, duration),
        ];
      }),
    ),
  };
}

function unbudgetedOutageTable(results: Results): Table {
  return {
    title: 'The same crash at 100 calls/s without budget and breaker',
    lead: '',
    head: ['', 'load', 'to fail'],
    rows: variantRows(plan.unbudgetedVariants, (variant) => {
      const result = plan.outage.of(results, 'crashes', 100, variant);
      return [outageLoad(result?.load), figure(result?.meanMsToFail, duration)];
    }),
  };
}

function burstTables(results: Results): Table[] {
  return plan.burstRates.map((rate) => ({
    title: `Intermittent outages, ${rate} calls/s: calls that succeed`,
    lead: 'Down for 20 % of the time, in outages of the mean length in the column head; fast faults, baseline p95 50 ms.',
    head: ['mean outage', ...plan.burstMeans.map(duration)],
    rows: variantRows(comparedVariants, (variant) =>
      plan.burstMeans.map((mean) =>
        shareFigure(plan.burst.of(results, mean, rate, variant)?.success),
      ),
    ),
  }));
}

function insideBurstTable(results: Results): Table {
  const columns = cross(plan.insideBurstLengths, plan.insideBurstRates, plan.insideBurstStarts);
  return {
    title: 'Calls that begin inside a burst of instant failures: the share that succeeds',
    lead: `The upstream is healthy except for bursts, 2.5 to 7.5 s apart, in which it answers every request with an immediate 503. Warm: one process meets all bursts; cold: a process starts with each burst. The lowest of three upstreams with a baseline p95 of ${plan.insideBurstBaselines.map(duration).join(', ')}.`,
    head: [
      'burst, calls/s, start',
      ...columns.map(([burstMs, rate, start]) => `${duration(burstMs)}, ${rate}/s, ${start}`),
    ],
    rows: variantRows(comparedVariants, (variant) =>
      columns.map(([burstMs, rate, start]) => {
        const shares = plan.insideBurstBaselines.flatMap(
          (p95Ms) =>
            plan.insideBurst.of(results, burstMs, rate, start, p95Ms, variant)?.success ?? [],
        );
        return figure(
          shares.length === 0 ? undefined : Math.min(...shares),
          (share) => percent(share),
          burstMs === 300 ? (share) => share >= BURST_THRESHOLD : undefined,
        );
      }),
    ),
  };
}

function falseOpenTable(results: Results): Table {
  return {
    title: 'Runs in which the circuit opened although most requests succeed',
    lead: '',
    head: ['', ...plan.falseOpenArrivals],
    rows: filled(
      plan.falseOpenRates.map((rate) => [
        plain(`${percent(rate, 0)} of requests fail`),
        ...plan.falseOpenArrivals.map((arrivals) =>
          figure(
            plan.falseOpen.of(results, rate, arrivals),
            ({ opened, runs }) => `${opened} of ${runs}`,
            ({ opened }) => opened === 0,
          ),
        ),
      ]),
    ),
  };
}

function recoveryTable(results: Results): Table {
  const shown = (ms: number): string => (ms >= AFTER_MS ? `> ${duration(AFTER_MS)}` : duration(ms));
  return {
    title: 'After an outage: time to recover, and the peak load in a second',
    lead: `${plan.RECOVERY_PER_SECOND} calls/s; the upstream has a capacity of ${plan.RECOVERY_CAPACITY} times as many requests and sheds the rest. Recovered: from then on 90 % of each second’s calls are answered within five times its p95; observed for a minute. Mean of three outages of about that length.`,
    head: ['', ...plan.recoveryOutages.flatMap((ms) => [`${duration(ms)} outage`, 'peak'])],
    rows: variantRows(comparedVariants, (variant) =>
      plan.recoveryOutages.flatMap((outageMs) => {
        const result = plan.recovery.of(results, outageMs, variant);
        return [figure(result?.recoversAfterMs, shown), figure(result?.peakLoad, times)];
      }),
    ),
  };
}

function coldTable(results: Results): Table {
  return {
    title: 'From a cold start: p95 of the first 200 calls, and of the first 20 of them',
    lead: 'New processes without latency samples, fast faults, 100 calls/s.',
    head: ['baseline p95', ...baselines.flatMap((ms) => [duration(ms), 'first 20'])],
    rows: variantRows(plan.ownVariants, (variant) =>
      baselines.flatMap((p95Ms) => {
        const result = plan.cold.of(results, p95Ms, variant);
        return [p95Figure(result?.ratio), p95Figure(result?.firstRatio)];
      }),
    ),
  };
}

/** Every table that has a row. */
export function tablesOf(results: Results): Table[] {
  return [
    ...cellTables(results),
    conditionTable(results),
    coldTable(results),
    outageTable(results),
    unbudgetedOutageTable(results),
    insideBurstTable(results),
    ...burstTables(results),
    falseOpenTable(results),
    recoveryTable(results),
  ].filter(({ rows }) => rows.length > 0);
}
