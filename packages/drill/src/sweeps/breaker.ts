import { presets, type BreakerOptions } from '@toolkeel/kernel';
import { duration, times } from '../report/format.js';
import type { OutageResult } from '../runs/outage.js';
import { bursts, falseOpens, insideBursts, outage, recovery } from './measures.js';
import type { Sweep } from './sweep.js';

const { breaker: shipped, ...unbroken } = presets.stac;

const choice = (title: string, changed: Partial<BreakerOptions>) => {
  const only = shipped ? { ...unbroken, breaker: { ...shipped, ...changed } } : unbroken;
  return { title, arm: { title, only } };
};

const opens = ({ opensAfterMs }: OutageResult): string =>
  opensAfterMs === undefined ? 'never' : duration(opensAfterMs);
const onceOpen = ({ loadOnceOpen }: OutageResult): string =>
  loadOnceOpen === undefined ? '–' : times(loadOnceOpen, 3);

/** When to open, for how long, and how to look again. */
export const breaker: Sweep = {
  title: 'Breaker: when it opens, for how long, and what that costs',
  lead: 'Runs that open falsely at 30 and 40 % faults; time until it opens in an outage and load once it has; calls that succeed while the upstream comes and goes; time until service is good again after an outage.',
  choices: [
    { title: 'as shipped: 80 % of 20 in 10 s for 1 s, open 1 to 20 s, 2 probes', arm: 'ours' },
    choice('50 %', { failureShare: 0.5 }),
    choice('70 %', { failureShare: 0.7 }),
    choice('of 10', { minimumAttempts: 10 }),
    choice('of 40', { minimumAttempts: 40 }),
    choice('in 5 s', { windowMs: 5_000 }),
    choice('in 20 s', { windowMs: 20_000 }),
    choice('opens at once', { openAfterMs: 0 }),
    choice('for 3 s', { openAfterMs: 3_000 }),
    choice('open 2 to 30 s', { openMs: 2_000, maxOpenMs: 30_000 }),
    choice('open 10 to 60 s', { openMs: 10_000, maxOpenMs: 60_000 }),
    choice('1 probe', { probes: 1 }),
    choice('5 probes', { probes: 5 }),
    { title: 'no breaker', arm: { title: 'no breaker', only: unbroken } },
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
