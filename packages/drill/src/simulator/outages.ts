import { type Arrivals, arrivalTimes, derive, faultModes, type OutageKind } from './model.js';
import {
  drive,
  faultFree,
  type ScenarioOptions,
  shareOfOk,
  type Trace,
  usualLatency,
} from './cell.js';
import { p95Of } from '../stats/stats.js';

interface OutageOptions extends ScenarioOptions {
  readonly perSecond: number;
  readonly outage: OutageKind;
}

export type OutageResult = Awaited<ReturnType<typeof runOutage>>;

/** The number of calls over which the load is counted. */
const FIRST = 1000;
/** Longer than the window of the breaker. */
const WARM_MS = 12_000;
const WARM_CALLS = 100;
/** The outage lasts at least this long and this many calls, so that the circuit opens within it. */
const LASTS_MS = 15_000;
const LASTS_CALLS = 2 * FIRST;

/** A healthy upstream that fails completely and does not recover. */
export async function runOutage(options: OutageOptions) {
  const { perSecond, seed } = options;
  const before = Math.max(WARM_CALLS, Math.round((WARM_MS * perSecond) / 1000));
  const during = Math.max(LASTS_CALLS, Math.round((LASTS_MS * perSecond) / 1000));
  const from = arrivalTimes({ perSecond, seed, calls: before + 1 })[before] ?? 0;
  let openedAt: number | undefined;
  let requests = 0;
  const trace = await drive({
    ...options,
    calls: before + during,
    outages: [{ from, to: Infinity }],
    outageKind: options.outage,
    latency: usualLatency,
    faults: faultModes.none,
    arrivals: { perSecond },
    onRequest: (now, call) => {
      // Retries of calls that began before the outage count too: the upstream cannot tell them apart.
      if (now >= from && call < before + FIRST) requests++;
    },
    onCircuit: (event, now) => {
      if (event === 'circuit_open') openedAt ??= now;
    },
  });
  const opened = openedAt ?? Infinity;
  const since = trace.startedAt.findIndex((at) => at >= opened);
  return {
    /** Requests that reach the upstream for each of the first 1,000 calls of the outage. */
    load: requests / FIRST,
    /** The same for the calls after the circuit first opened; undefined if it never opened. */
    loadOnceOpen: since < 0 ? undefined : mean(trace.attempts.subarray(since)),
    opensAfterMs: openedAt === undefined ? undefined : openedAt - from,
    meanMsToFail: mean(trace.tookMs.subarray(before)),
  };
}

function mean(values: Uint16Array | Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

interface RecoveryOptions extends ScenarioOptions {
  readonly perSecond: number;
  readonly outageMs: number;
  /** The upstream's capacity as a multiple of the calls. It sheds requests above it. */
  readonly capacity: number;
}

/** A call is well served if it succeeds within five times the p95 of the upstream. */
const WELL_MS = 5 * usualLatency.p95Ms;
/** The observation period; a result of this value means "longer". */
export const AFTER_MS = 60_000;
const SECOND = 1000;

/** Factors on the outage's length, because the time a circuit stays open depends on its exact end. */
const LENGTHS = [0.8, 1, 1.2];

/** Measures how long calls take to succeed after an outage, and the load that returning calls cause. */
export async function runRecovery(options: RecoveryOptions) {
  const runs: Awaited<ReturnType<typeof recoverOnce>>[] = [];
  for (const [n, length] of LENGTHS.entries()) {
    const seed = derive(options.seed, n);
    runs.push(await recoverOnce({ ...options, seed, outageMs: options.outageMs * length }));
  }
  return {
    /** Mean time from the end of the outage until 90 % of each second's calls are well served. */
    recoversAfterMs: runs.reduce((sum, { afterMs }) => sum + afterMs, 0) / runs.length,
    slowestMs: Math.max(...runs.map(({ afterMs }) => afterMs)),
    /** The most requests in one second after the outage, as a multiple of the calls. */
    peakLoad: Math.max(...runs.map(({ peakLoad }) => peakLoad)),
  };
}

async function recoverOnce(options: RecoveryOptions) {
  const { perSecond, outageMs, capacity } = options;
  const end = WARM_MS + outageMs;
  const requests = new Uint32Array(Math.ceil(AFTER_MS / SECOND));
  const trace = await drive({
    ...options,
    calls: Math.ceil((1.1 * (end + AFTER_MS) * perSecond) / SECOND),
    outages: [{ from: WARM_MS, to: end }],
    capacity: capacity * perSecond,
    latency: usualLatency,
    faults: faultModes.none,
    arrivals: { perSecond },
    untilMs: end + AFTER_MS + WELL_MS,
    onRequest: (now) => {
      const second = Math.floor((now - end) / SECOND);
      if (second >= 0 && second < requests.length) requests[second]! += 1;
    },
  });
  return {
    afterMs: (poorSeconds(trace, end).lastIndexOf(true) + 1) * SECOND,
    peakLoad: Math.max(...requests) / perSecond,
  };
}

/** For each second after the outage: whether more than 10 % of the calls begun in it were served poorly. */
function poorSeconds(trace: Trace, end: number): boolean[] {
  const calls = new Uint32Array(Math.ceil(AFTER_MS / SECOND));
  const poor = new Uint32Array(calls.length);
  trace.startedAt.forEach((at, call) => {
    const second = Math.floor((at - end) / SECOND);
    if (second < 0 || second >= calls.length) return;
    calls[second]! += 1;
    if (trace.ok[call] === 0 || trace.tookMs[call]! > WELL_MS) poor[second]! += 1;
  });
  return Array.from(poor, (count, second) => count > 0.1 * calls[second]!);
}

interface FalseOpenOptions extends ScenarioOptions {
  readonly faultRate: number;
  readonly arrivals: Arrivals;
  /** Runs from a cold start: a breaker errs most with few samples. */
  readonly runs: number;
  readonly callsPerRun: number;
}

/** Counts the runs in which the circuit opens while most requests succeed. */
export async function runFalseOpens(options: FalseOpenOptions) {
  const { variant, faultRate, arrivals, runs, callsPerRun, seed } = options;
  let opened = 0;
  for (let run = 0; run < runs; run++) {
    let opens = 0;
    await drive({
      variant,
      arrivals,
      calls: callsPerRun,
      seed: derive(seed, 100 + run),
      latency: usualLatency,
      faults: { ...faultModes.fast, rate: faultRate },
      onCircuit: (event) => {
        if (event === 'circuit_open') opens++;
      },
    });
    if (opens > 0) opened++;
  }
  return { opened, runs };
}

interface ColdOptions extends ScenarioOptions {
  readonly p95Ms: number;
  readonly perSecond: number;
  readonly runs: number;
}

const CALLS_PER_RUN = 200;
const EARLY_CALLS = 20;

/** Many new processes, each with its first calls. */
export async function runCold({ variant, p95Ms, perSecond, runs, seed }: ColdOptions) {
  const latency = { p95Ms, sigma: 0.5 };
  const took = new Float64Array(runs * CALLS_PER_RUN);
  const without = new Float64Array(took.length);
  let passing = 0;
  let success = 0;
  for (let run = 0; run < runs; run++) {
    const calls = { latency, seed: derive(seed, 1000 + run), calls: CALLS_PER_RUN };
    const trace = await drive({
      ...calls,
      variant,
      faults: faultModes.fast,
      arrivals: { perSecond },
    });
    took.set(trace.tookMs, run * CALLS_PER_RUN);
    without.set(faultFree(calls), run * CALLS_PER_RUN);
    success += shareOfOk(trace) / runs;
    if (shareOfOk(trace) >= 0.95) passing++;
  }
  const early = (_: number, i: number): boolean => i % CALLS_PER_RUN < EARLY_CALLS;
  return {
    /** p95 of all first calls of all runs ÷ the same without faults. */
    ratio: p95Of(took) / p95Of(without),
    /** The same for the first twenty calls of each run, before the latency is known. */
    firstRatio: p95Of(took.filter(early)) / p95Of(without.filter(early)),
    success,
    /** The share of runs in which at least 95 % of the calls succeeded. */
    runsPassing: passing / runs,
  };
}
