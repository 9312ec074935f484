import { presets } from '@toolkeel/kernel';
import { bursts, cell, insideBursts, p99 } from './measures.js';
import type { Sweep } from './sweep.js';

const scaled = (medianScale: number) => {
  const title = `α ${medianScale}`;
  return { title, arm: { title, policy: { medianScale } } };
};

/** How long the first wait may be, in medians of the upstream. */
export const alpha: Sweep = {
  title: 'α: the first wait in medians of the upstream',
  lead: 'p95 of all calls at 20 % faults, and calls that succeed while a 50 ms upstream comes and goes.',
  choices: [
    { title: `as shipped: α ${presets.stac.medianScale}`, arm: 'ours' },
    ...[0.1, 0.5, 0.75, 1].map(scaled),
    { title: 'no scaling: the seed’s caps', arm: 'seed' },
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
  return { title, arm: { title, health: { recent, failingShare } } };
};

/** When short waits give way to the seed's caps. */
export const fallback: Sweep = {
  title: 'Sustained failure: when the full caps take over from short waits',
  lead: 'Falling back early rides out bursts and lengthens the tail at single faults; at 25 % faults an early fallback becomes the rule.',
  choices: [
    { title: 'as shipped: above 40 % of the last 16', arm: 'ours' },
    memory(16, 0.3),
    memory(16, 0.5),
    memory(8, 0.4),
    memory(8, 0.5),
    memory(12, 0.4),
    memory(32, 0.3),
    memory(32, 0.4),
    { title: 'never', arm: { title: 'never', health: { failingShare: 1 } } },
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
  arm: { title, health: { isolatedShare } },
});

/** When the second retry is as quick as the first. */
export const second: Sweep = {
  title: 'The second retry: when two faults in a row are taken for a burst',
  lead: 'The second retry waits out a burst unless more than a share of recent answers came from quick retries.',
  choices: [
    { title: 'as shipped: above 8 %', arm: 'ours' },
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
