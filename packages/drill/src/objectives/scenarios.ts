import type { ArmName } from '../arms/index.js';
import { baselines, ownArms } from '../plan/cells.js';
import * as plan from '../plan/scenarios.js';
import { change, percent, signed, times } from '../report/format.js';
import { standardError } from '../runs/inside-bursts.js';
import type { Results } from '../runs/results.js';
import * as bars from './bars.js';
import { judge, type Objective } from './objective.js';

/** At one call in five seconds a circuit has too little to go by; there the budget does it alone. */
const circuitRates = plan.outageRates.filter((rate) => rate >= 1);

export function outages(results: Results): Objective[] {
  const full = ['crashes', 'hangs'] as const;
  const of = (arm: ArmName, rates: readonly number[]) =>
    full.flatMap((kind) =>
      rates.map((rate) => results.get('outage', plan.outageId(kind, rate, arm))),
    );
  const first = (title: string, arm: ArmName): Objective =>
    judge({
      what: `full outage, first 1,000 calls, 0.2 to 2000/s, ${title}`,
      bar: `≤ ${times(bars.OUTAGE_BAR, 1)}`,
      values: of(arm, plan.outageRates),
      show: (runs) => `at most ${times(Math.max(...runs.map(({ load }) => load)))}`,
      meets: ({ load }) => load <= bars.OUTAGE_BAR,
    });
  return [
    first('preset', 'ours'),
    first('with hedging', 'hedged'),
    first('budget alone', 'withoutBreaker'),
    judge({
      what: 'full outage, once the circuit is open, 2 to 2000/s',
      bar: `< ${times(bars.OPEN_BAR, 1)}`,
      values: ownArms.flatMap((arm) => of(arm, circuitRates)),
      show: (runs) => `at most ${times(Math.max(...runs.map((run) => run.loadOnceOpen ?? 9)), 3)}`,
      meets: ({ loadOnceOpen = Infinity }) => loadOnceOpen < bars.OPEN_BAR,
    }),
  ];
}

/** The results of one variant inside bursts of a length: every rate, start and baseline. */
function insideBursts(results: Results, burstMs: number, arm: ArmName) {
  return plan.insideBurstRates.flatMap((perSecond) =>
    plan.insideBurstStarts.flatMap((start) =>
      plan.insideBurstBaselines.map((p95Ms) =>
        results.get('insideBursts', plan.insideBurstId({ burstMs, perSecond, start, p95Ms }, arm)),
      ),
    ),
  );
}

const rates = `${plan.insideBurstRates.join(' and ')} calls/s`;

export function insideShortBursts(results: Results): Objective {
  return judge({
    what: `calls begun inside a burst of 300 ms, ${rates}, warm and cold`,
    bar: `≥ ${percent(bars.BURST_BAR, 0)}`,
    values: ownArms.flatMap((arm) => insideBursts(results, 300, arm)),
    show: (runs) => `at least ${percent(Math.min(...runs.map(({ success }) => success)), 2)}`,
    meets: ({ success }) => success >= bars.BURST_BAR,
  });
}

export function insideLongBursts(results: Results): Objective {
  const literal = insideBursts(results, 1000, 'seed');
  const pairs = ownArms.flatMap((arm) =>
    insideBursts(results, 1000, arm).map((ours, n) => {
      const seed = literal[n];
      if (ours === undefined || seed === undefined) return undefined;
      const above = ours.success - seed.success;
      return { above, errors: above / standardError(ours, seed) };
    }),
  );
  return judge({
    what: `calls begun inside a burst of 1 s, ${rates}, warm and cold`,
    bar: `≥ seed 003, literally, − ${bars.BURST_ERRORS} standard errors`,
    values: pairs,
    show: (all) => {
      const { above, errors } = all.reduce((a, b) => (a.errors < b.errors ? a : b));
      return `at least ${signed(100 * above)} points (${signed(errors)} standard errors)`;
    },
    meets: ({ errors }) => errors >= -bars.BURST_ERRORS,
  });
}

export function coldStart(results: Results): Objective {
  return judge({
    what: 'cold start, 200 calls: p95, runs with 95 % success',
    bar: `≤ ${bars.P95_TEXT}, all`,
    values: baselines.map((p95Ms) => results.get('cold', plan.coldId(p95Ms, 'ours'))),
    show: (runs) =>
      `at most ${change(Math.max(...runs.map(({ ratio }) => ratio)))}, ${percent(Math.min(...runs.map(({ runsPassing }) => runsPassing)))} of runs`,
    meets: ({ ratio, runsPassing }) => ratio <= bars.P95_BAR && runsPassing === 1,
  });
}

export function falseOpens(results: Results): Objective {
  const ids = plan.falseOpenRates.flatMap((rate) =>
    plan.falseOpenArrivals.map(({ title }) => plan.falseOpenId(rate, title)),
  );
  return judge({
    what: 'circuits that open at 20 or 30 % faults',
    bar: '0',
    values: ids.map((id) => results.get('falseOpens', id)),
    show: (runs) =>
      `${runs.reduce((sum, { opened }) => sum + opened, 0)} of ${runs.reduce((sum, run) => sum + run.runs, 0)} runs`,
    meets: ({ opened }) => opened === 0,
  });
}
