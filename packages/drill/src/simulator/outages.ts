import type { Variant } from './variants.js';
import { type Arrivals, arrivalTimes, derive, draw, faultModes, type OutageKind } from './model.js';
import { drive, shareOfOk, type Trace, usualLatency } from './cell.js';
import { lognormalQuantile, quantileOf, sorted } from '../stats/stats.js';

export interface OutageOptions {
  readonly variant: Variant;
  readonly perSecond: number;
  readonly outage: OutageKind;
  readonly seed: number;
}

export interface OutageResult {
  /** Requests that reach the upstream for each of the first 1,000 calls of the outage. */
  readonly load: number;
  /** The same for the calls after the circuit first opened; undefined if it never did. */
  readonly loadOnceOpen: number | undefined;
  readonly opensAfterMs: number | undefined;
  /** How long a caller waits for the bad news, on average. */
  readonly meanMsToFail: number;
}

/** The calls over which the load is counted. */
const FIRST = 1000;
/** Longer than the window of a circuit. */
const WARM_MS = 12_000;
const WARM_CALLS = 100;
/** The outage goes on for so long, and at least for so many calls, that the circuit can be seen. */
const LASTS_MS = 15_000;
const LASTS_CALLS = 2 * FIRST;

/** All is well, and then nothing works any more. */
export async function runOutage(options: OutageOptions): Promise<OutageResult> {
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
      // Retries of calls that had begun before count too: the upstream sees no difference.
      if (now >= from && call < before + FIRST) requests++;
    },
    onCircuit: (event, now) => {
      if (event === 'circuit_open') openedAt ??= now;
    },
  });
  const opened = openedAt ?? Infinity;
  const since = trace.startedAt.findIndex((at) => at >= opened);
  return {
    load: requests / FIRST,
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

export interface RecoveryOptions {
  readonly variant: Variant;
  readonly perSecond: number;
  readonly outageMs: number;
  /** What the upstream can take, as a multiple of the calls that come. It sheds the rest. */
  readonly capacity: number;
  readonly seed: number;
}

export interface RecoveryResult {
  /** From the end of the outage until 90 % of a second's calls are well served, for good: mean. */
  readonly recoversAfterMs: number;
  readonly slowestMs: number;
  /** The most requests in one second after the outage, as a multiple of the calls that come. */
  readonly peakLoad: number;
}

/** Well served: a good answer within so long, five times the p95 of the upstream. */
const WELL_MS = 5 * usualLatency.p95Ms;
/** It is not looked at for longer: a result of this means "longer". */
export const AFTER_MS = 60_000;
const SECOND = 1000;

/** Outages of about that length: how long a circuit stays open depends on when exactly it ends. */
const LENGTHS = [0.8, 1, 1.2];

/** An outage ends. How long until callers notice, and does their return knock it over again? */
export async function runRecovery(options: RecoveryOptions): Promise<RecoveryResult> {
  const runs: { afterMs: number; peakLoad: number }[] = [];
  for (const [n, length] of LENGTHS.entries()) {
    const seed = derive(options.seed, n);
    runs.push(await recoverOnce({ ...options, seed, outageMs: options.outageMs * length }));
  }
  return {
    recoversAfterMs: runs.reduce((sum, { afterMs }) => sum + afterMs, 0) / runs.length,
    slowestMs: Math.max(...runs.map(({ afterMs }) => afterMs)),
    peakLoad: Math.max(...runs.map(({ peakLoad }) => peakLoad)),
  };
}

async function recoverOnce(
  options: RecoveryOptions,
): Promise<{ afterMs: number; peakLoad: number }> {
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

/** For each second after the outage, by when a call began: were more than 10 % served poorly? */
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

export interface FalseOpenOptions {
  readonly variant: Variant;
  readonly faultRate: number;
  readonly arrivals: Arrivals;
  /** Fresh starts: a breaker errs when it knows little. */
  readonly runs: number;
  readonly callsPerRun: number;
  readonly seed: number;
}

export interface FalseOpenResult {
  /** Runs in which the circuit opened although most requests succeeded. */
  readonly opened: number;
  readonly runs: number;
}

/** Does the circuit stay closed while single requests fail? */
export async function runFalseOpens(options: FalseOpenOptions): Promise<FalseOpenResult> {
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

export interface ColdOptions {
  readonly variant: Variant;
  readonly p95Ms: number;
  readonly perSecond: number;
  readonly runs: number;
  readonly seed: number;
}

export interface ColdResult {
  /** p95 of all first calls of all runs ÷ the same without faults. */
  readonly ratio: number;
  /** The same for the first twenty calls of each run: nothing is known of the upstream yet. */
  readonly firstRatio: number;
  readonly success: number;
  /** Runs in which at least 95 % of the calls succeeded, as the requirement counts. */
  readonly runsPassing: number;
}

/** As many calls as the requirement samples. */
const CALLS_PER_RUN = 200;
const EARLY_CALLS = 20;

/** Many processes that have just started, each with its first calls. */
export async function runCold({
  variant,
  p95Ms,
  perSecond,
  runs,
  seed,
}: ColdOptions): Promise<ColdResult> {
  const latency = { p95Ms, sigma: 0.5 };
  const took = new Float64Array(runs * CALLS_PER_RUN);
  const without = new Float64Array(took.length);
  let passing = 0;
  let success = 0;
  for (let run = 0; run < runs; run++) {
    const runSeed = derive(seed, 1000 + run);
    const trace = await drive({
      variant,
      latency,
      seed: runSeed,
      calls: CALLS_PER_RUN,
      faults: faultModes.fast,
      arrivals: { perSecond },
    });
    took.set(trace.tookMs, run * CALLS_PER_RUN);
    for (let call = 0; call < CALLS_PER_RUN; call++) {
      without[run * CALLS_PER_RUN + call] = lognormalQuantile(
        latency,
        draw(runSeed, 'latency', call),
      );
    }
    success += shareOfOk(trace) / runs;
    if (shareOfOk(trace) >= 0.95) passing++;
  }
  const early = (_: number, i: number): boolean => i % CALLS_PER_RUN < EARLY_CALLS;
  return {
    ratio: p95(took) / p95(without),
    firstRatio: p95(took.filter(early)) / p95(without.filter(early)),
    success,
    runsPassing: passing / runs,
  };
}

function p95(values: Float64Array): number {
  return quantileOf(sorted(values), 0.95);
}
