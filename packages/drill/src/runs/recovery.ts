import type { Arm } from '../arms/arm.js';
import { derive } from '../model/draws.js';
import { faultModes } from '../model/fault-mode.js';
import { drive } from './drive.js';
import { usualLatency } from './usual.js';
import type { Trace } from './trace.js';

export interface RecoveryOptions {
  readonly arm: Arm;
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
const WARM_MS = 12_000;
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
