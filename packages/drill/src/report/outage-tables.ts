import { arms, type ArmName } from '../arms/index.js';
import { OPEN_BAR, OUTAGE_BAR } from '../objectives/bars.js';
import * as plan from '../plan/scenarios.js';
import type { Results } from '../runs/results.js';
import { duration, times } from './format.js';
import { figure, filled, plain, type Table } from './table.js';

const outageTitles = {
  crashes: 'crash',
  hangs: 'silence',
  turnsAway: 'closed door',
} as const;

export function outageTable(results: Results): Table {
  const rows = plan.outageKinds.flatMap((kind) =>
    plan.outageRates.map((rate) => {
      const of = (arm: ArmName) => results.get('outage', plan.outageId(kind, rate, arm));
      const ours = of('ours');
      return [
        plain(`${outageTitles[kind]}, ${rate}/s`),
        ...plan.outageArms.map((arm) => figure(of(arm)?.load, times, (load) => load <= OUTAGE_BAR)),
        figure(ours?.opensAfterMs, duration),
        figure(
          ours?.loadOnceOpen,
          (load) => times(load, 3),
          (load) => load < OPEN_BAR,
        ),
        figure(ours?.meanMsToFail, duration),
      ];
    }),
  );
  return {
    title: 'A full outage, after all was well',
    lead: 'Requests that reach the upstream for each of the first 1,000 calls, retries of earlier calls included; when the circuit opens, and the requests for each call from then on; how long a caller waits for the bad news. Crash: all fails at once, what was under way too. Silence: nothing is ever answered. Closed door: what was under way is still answered and earns tokens, what comes is turned away. The bars are for the first two.',
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
export function rivalOutageTable(results: Results): Table {
  const rows = plan.outageRivals.map((arm) => {
    const result = results.get('outage', plan.outageId('crashes', 100, arm));
    const bar = (load: number): boolean => load <= OUTAGE_BAR;
    return [
      plain(arms[arm].title),
      figure(result?.load, times, bar),
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
