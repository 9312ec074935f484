import { presets, type BudgetOptions } from '@toolkeel/kernel';
import { bursts, cell, outage, success } from './measures.js';
import type { Sweep } from './sweep.js';

const name = ({ capacity, perSuccess, perSecond }: BudgetOptions): string =>
  `${capacity} tokens, ${perSuccess} a success, ${perSecond} a second`;

/** Without the breaker, which would hide what the budget does. */
const tokens = (numbers: BudgetOptions, shipped = false) => {
  const { breaker: _, ...policy } = presets.stac;
  const title = shipped ? `as shipped: ${name(numbers)}` : name(numbers);
  return { title, arm: { title, only: { ...policy, budget: numbers } } };
};

const none: BudgetOptions = { capacity: 0, perSuccess: 0, perSecond: 0 };
const shipped: BudgetOptions = { ...none, ...presets.stac.budget };
const other = (changed: Partial<BudgetOptions>) => tokens({ ...shipped, ...changed });

/** What retries an upstream can be asked to bear. */
export const budget: Sweep = {
  title: 'Budget: tokens, and what brings them back (no breaker)',
  lead: 'Success at 20, 30 and 40 % fast faults; load in a crash over the first 1,000 calls at four rates, and behind a closed door where requests under way are still answered and earn tokens; calls that succeed in bursts.',
  choices: [
    tokens(shipped, true),
    other({ capacity: 20 }),
    other({ capacity: 50 }),
    other({ capacity: 70 }),
    other({ capacity: 100 }),
    other({ perSuccess: 0.1 }),
    other({ perSuccess: 0.3 }),
    other({ perSuccess: 1 }),
    other({ perSecond: 0.05 }),
    other({ perSecond: 1 }),
    { title: 'no budget: the seed’s policy', arm: 'seed' },
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
