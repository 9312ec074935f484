import { arms } from '../arms/index.js';
import { BURST_BAR, P95_BAR } from '../objectives/bars.js';
import { baselines, comparedArms, ownArms } from '../plan/cells.js';
import * as plan from '../plan/scenarios.js';
import { AFTER_MS } from '../runs/recovery.js';
import type { Results } from '../runs/results.js';
import { change, duration, percent, times } from './format.js';
import { figure, filled, plain, type Table } from './table.js';

export function burstTables(results: Results): Table[] {
  return plan.burstRates.map((rate) => ({
    title: `Outages that come and go, ${rate} calls/s: calls that succeed`,
    lead: 'Down for 20 % of the time, for as long as the column says on average; fast faults, upstream’s own p95 50 ms.',
    head: ['mean outage', ...plan.burstMeans.map(duration)],
    rows: filled(
      comparedArms.map((arm) => [
        plain(arms[arm].title),
        ...plan.burstMeans.map((mean) => {
          const result = results.get('bursts', plan.burstId(mean, rate, arm));
          return figure(result?.success, (share) => percent(share));
        }),
      ]),
    ),
  }));
}

export function insideBurstTable(results: Results): Table {
  const columns = plan.insideBurstLengths.flatMap((burstMs) =>
    plan.insideBurstRates.flatMap((perSecond) =>
      plan.insideBurstStarts.map((start) => ({ burstMs, perSecond, start })),
    ),
  );
  const rows = comparedArms.map((arm) => [
    plain(arms[arm].title),
    ...columns.map((column) => {
      const ids = plan.insideBurstBaselines.map((p95Ms) =>
        plan.insideBurstId({ ...column, p95Ms }, arm),
      );
      const shares = results.all('insideBursts', ids).map(({ success }) => success);
      return figure(
        shares.length === 0 ? undefined : Math.min(...shares),
        (share) => percent(share),
        column.burstMs === 300 ? (share) => share >= BURST_BAR : undefined,
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

export function falseOpenTable(results: Results): Table {
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

export function recoveryTable(results: Results): Table {
  const rows = comparedArms.map((arm) => [
    plain(arms[arm].title),
    ...plan.recoveryOutages.flatMap((outageMs) => {
      const result = results.get('recovery', plan.recoveryId(outageMs, arm));
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

export function coldTable(results: Results): Table {
  const rows = ownArms.map((arm) => [
    plain(arms[arm].title),
    ...baselines.flatMap((p95Ms) => {
      const result = results.get('cold', plan.coldId(p95Ms, arm));
      return [
        figure(result?.ratio, change, (ratio) => ratio <= P95_BAR),
        figure(result?.firstRatio, change, (ratio) => ratio <= P95_BAR),
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
