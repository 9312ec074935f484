import { bytes, digits, inHundredths, percent, times } from './format.mjs';
import { inFlights, rivals } from './guard/guard.mjs';
import { processes } from './journal/postgres.mjs';
import { lines } from './packages.mjs';

/**
 * @typedef {import('./rounds.mjs').ByLine<import('./rounds.mjs').Cost>} Costs
 * @typedef {import('./rounds.mjs').ByLine<import('./stats.mjs').Spread>} Heaps
 * @typedef {import('./rounds.mjs').ByLine<import('./size.mjs').Size>} Sizes
 * @typedef {import('./served/served.mjs').Served} Served
 * @typedef {import('./journal/journal.mjs').JournalCosts} JournalCosts
 * @typedef {import('./journal/postgres.mjs').PostgresCosts} PostgresCosts
 * @typedef {{ costs: Costs, heaps: Heaps, sizes: Sizes, served: Served, journal: JournalCosts, postgres: PostgresCosts, guard: import('./guard/guard.mjs').GuardCosts }} Results
 * @typedef {'met' | 'missed' | 'not measured'} Status
 * @typedef {{ threshold: string, measured: string, status: Status }} Judgement
 * @typedef {import('./packages.mjs').Line} Line
 */

const ours = 'composition';
const maxRatio = 10;
const cheaperThanCockatiel = 20;
const maxHeapBytes = 2500;
const maxGzipBytes = 6000;
const maxCallRatio = 1.25;
const minHttpRatio = 3;
const maxStartRatio = 1.3;
const minJournalRate = 0.5;
const maxReplayUs = 300;
const maxMemoryUs = 5;
const maxLockWaits = 0.1;
const maxGuardUs = 200;
const minGuardRate = 0.6;

/**
 * @param {string} threshold
 * @param {number | undefined} value
 * @param {(value: number) => boolean} isMet
 * @param {(value: number) => string} show
 * @returns {Judgement}
 */
const judged = (threshold, value, isMet, show) => {
  if (value === undefined || Number.isNaN(value))
    return { threshold, measured: '–', status: 'not measured' };
  return { threshold, measured: show(value), status: isMet(value) ? 'met' : 'missed' };
};

/**
 * The ratio between the costs that another library and Toolkeel add to the bare call.
 *
 * @param {Results} results
 * @param {Line} line
 * @param {string} other
 */
const advantage = ({ costs }, line, other) =>
  (costs[line]?.[other]?.addedUs.median ?? Number.NaN) /
  (costs[line]?.[ours]?.addedUs.median ?? Number.NaN);

/**
 * Judges the results against the thresholds.
 *
 * @param {Results} results
 * @returns {Judgement[]}
 */
export const judge = (results) => {
  const { costs, heaps, sizes, served, journal, postgres, guard } = results;
  const micros = (/** @type {number} */ value) => `${digits(value)} µs`;
  const cheaper = (/** @type {number} */ value) => `${times(value)} cheaper`;
  return [
    judged(
      `Node 20: at most ${maxRatio} × a bare await`,
      costs[20]?.[ours]?.ratio.median,
      (value) => value <= maxRatio,
      times,
    ),
    judged(
      `Node 20: at least ${cheaperThanCockatiel} × cheaper than cockatiel's wrap`,
      advantage(results, 20, 'cockatiel'),
      (value) => value >= cheaperThanCockatiel,
      cheaper,
    ),
    ...lines.map((line) =>
      judged(
        `Node ${line}: cheaper than opossum`,
        advantage(results, line, 'opossum'),
        (value) => value > 1,
        cheaper,
      ),
    ),
    ...lines.map((line) =>
      judged(
        `Node ${line}: under ${bytes(maxHeapBytes)} of heap an instance`,
        heaps[line]?.[ours]?.median,
        (value) => value < maxHeapBytes,
        bytes,
      ),
    ),
    judged(
      `under ${bytes(maxGzipBytes)} minified and gzipped`,
      sizes[20]?.[ours]?.gzipped,
      (value) => value < maxGzipBytes,
      bytes,
    ),
    ...lines.map((line) =>
      judged(
        `Node ${line}: a trivial tool over stdio at most ${maxCallRatio} × the bare SDK, p50`,
        served.calls[line]?.ratio.median,
        (value) => value <= maxCallRatio,
        inHundredths,
      ),
    ),
    ...lines.map((line) =>
      judged(
        `Node ${line}: a trivial tool over HTTP at least ${minHttpRatio} × the rate of the bare SDK`,
        served.http[line]?.ratio.median,
        (value) => value >= minHttpRatio,
        inHundredths,
      ),
    ),
    ...lines.map((line) =>
      judged(
        `Node ${line}: start to the first tools/list at most ${maxStartRatio} × server-everything`,
        served.starts[line]?.ratio,
        (value) => value <= maxStartRatio,
        inHundredths,
      ),
    ),
    ...lines.flatMap((line) => [
      judged(
        `Node ${line}: the journal in SQLite at least ${minJournalRate} of the rate of bare statements`,
        journal[line]?.rate.median,
        (value) => value >= minJournalRate,
        digits,
      ),
      judged(
        `Node ${line}: a replay from SQLite under ${maxReplayUs / 1000} ms`,
        journal[line]?.replayUs.median,
        (value) => value < maxReplayUs,
        micros,
      ),
      judged(
        `Node ${line}: the journal in memory under ${maxMemoryUs} µs`,
        journal[line]?.memoryUs.median,
        (value) => value < maxMemoryUs,
        micros,
      ),
    ]),
    ...lines.flatMap((line) => [
      ...[
        { inFlight: 1, rate: postgres.costs[line]?.oneRate },
        { inFlight: 32, rate: postgres.costs[line]?.manyRate },
      ].map(({ inFlight, rate }) =>
        judged(
          `Node ${line}: the journal in PostgreSQL at least ${minJournalRate} of the rate of bare transactions, ${inFlight} in flight`,
          rate?.median,
          (value) => value >= minJournalRate,
          digits,
        ),
      ),
      judged(
        `Node ${line}: of ${processes} processes on PostgreSQL, under ${percent(maxLockWaits)} of the active sessions wait for a lock`,
        postgres.costs[line]?.lockWaits.median,
        (value) => value < maxLockWaits,
        percent,
      ),
    ]),
    ...lines.flatMap((line) => guardJudgements(line, guard[line])),
  ];
};

/**
 * @param {Line} line
 * @param {import('./guard/guard.mjs').GuardCost | undefined} cost
 * @returns {Judgement[]}
 */
const guardJudgements = (line, cost) => {
  const ofOthers = (
    /** @type {number} */ inFlight,
    /** @type {string} */ rival,
    /** @type {'p50Us' | 'cpuUs'} */ what,
  ) => {
    const cells = cost?.http[inFlight];
    return (
      (cells?.['guard']?.[what].median ?? Number.NaN) /
      (cells?.[rival]?.[what].median ?? Number.NaN)
    );
  };
  return [
    judged(
      `Node ${line}: the guard adds at most ${maxGuardUs} µs to a read over stdio, p50`,
      cost?.added[1]?.addedUs.median,
      (value) => value <= maxGuardUs,
      (value) => `${digits(value)} µs`,
    ),
    judged(
      `Node ${line}: the guard keeps at least ${minGuardRate} × of the direct rate over stdio, 16 in flight`,
      cost?.added[16]?.rateRatio.median,
      (value) => value >= minGuardRate,
      inHundredths,
    ),
    judged(
      `Node ${line}: the guard is faster than a proxy of the SDK over stdio, 16 in flight`,
      (cost?.stdio[16]?.['guard']?.rate.median ?? Number.NaN) /
        (cost?.stdio[16]?.['SDK proxy']?.rate.median ?? Number.NaN),
      (value) => value > 1,
      inHundredths,
    ),
    ...inFlights.flatMap((inFlight) =>
      rivals.flatMap((rival) => [
        judged(
          `Node ${line}: the guard over HTTP has a lower p50 than ${rival}, ${inFlight} in flight`,
          ofOthers(inFlight, rival, 'p50Us'),
          (value) => value < 1,
          inHundredths,
        ),
        judged(
          `Node ${line}: the guard over HTTP uses less CPU a call than ${rival}, ${inFlight} in flight`,
          ofOthers(inFlight, rival, 'cpuUs'),
          (value) => value < 1,
          inHundredths,
        ),
      ]),
    ),
  ];
};
