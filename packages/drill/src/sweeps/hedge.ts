import type { HedgeOptions } from '@toolkeel/kernel';
import { change, times } from '../report/format.js';
import type { CellResult } from '../runs/cell.js';
import { bursts, cell, outage } from './measures.js';
import type { Sweep } from './sweep.js';

const choice = (title: string, hedge: Partial<HedgeOptions>) => ({ title, arm: { title, hedge } });
const both = ({ ratio, load }: CellResult): string => `${change(ratio)} at ${times(load)}`;

/** When the second request goes out, and how many there may be. */
export const hedge: Sweep = {
  title: 'Hedge: after which quantile, and paid by what',
  lead: 'p95 of all calls and load, at 20 % faults of three kinds and without any; load in an outage in which nothing answers; calls that succeed in bursts.',
  choices: [
    { title: 'as shipped: p85, 10 tokens, 0.2 a success', arm: 'hedged' },
    choice('p75', { quantile: 0.75 }),
    choice('p75, 0.3 a success', { quantile: 0.75, perSuccess: 0.3 }),
    choice('p80', { quantile: 0.8 }),
    choice('p90', { quantile: 0.9 }),
    choice('p95', { quantile: 0.95 }),
    choice('0.1 a success', { perSuccess: 0.1 }),
    choice('0.3 a success', { perSuccess: 0.3 }),
    choice('20 tokens', { capacity: 20 }),
    { title: 'no hedging', arm: 'ours' },
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
