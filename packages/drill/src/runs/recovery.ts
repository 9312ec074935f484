import type { Arm } from '../arms/arm.js';
import { faultModes } from '../model/fault-mode.js';
import { drive } from './drive.js';
import { usualLatency } from './outage.js';
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
  /** From the end of the outage until at least 95 % of a second's calls succeed, for good. */
  readonly recoversAfterMs: number;
  /** The most requests in one second after the outage, as a multiple of the calls that come. */
  readonly peakLoad: number;
  /** Calls that failed although the outage was over. */
  readonly failedAfter: number;
}

const WARM_MS = 20_000;
const AFTER_MS = 120_000;
const SECOND = 1000;

/** An outage ends. How long until callers notice, and does their return knock it over again? */
export async function runRecovery(options: RecoveryOptions): Promise<RecoveryResult> {
  const { arm, perSecond, outageMs, capacity, seed } = options;
  const end = WARM_MS + outageMs;
  const requests = new Uint32Array(Math.ceil(AFTER_MS / SECOND));
  const trace = await drive({
    arm,
    seed,
    calls: Math.round(((end + AFTER_MS) * perSecond) / SECOND),
    outages: [{ from: WARM_MS, to: end }],
    capacity: capacity * perSecond,
    latency: usualLatency,
    faults: faultModes.none,
    arrivals: { perSecond },
    onRequest: (now) => {
      const second = Math.floor((now - end) / SECOND);
      if (second >= 0 && second < requests.length) requests[second]! += 1;
    },
  });
  const { failing, failed } = failuresBySecond(trace, end);
  return {
    recoversAfterMs: (failing.lastIndexOf(true) + 1) * SECOND,
    peakLoad: Math.max(...requests) / perSecond,
    failedAfter: failed,
  };
}

/** For each second after the outage, by when a call began: did more than 5 % of the calls fail? */
function failuresBySecond(trace: Trace, end: number): { failing: boolean[]; failed: number } {
  const seconds = Math.ceil(AFTER_MS / SECOND);
  const calls = new Uint32Array(seconds);
  const failures = new Uint32Array(seconds);
  trace.startedAt.forEach((at, call) => {
    const second = Math.floor((at - end) / SECOND);
    if (second < 0 || second >= seconds) return;
    calls[second]! += 1;
    if (trace.ok[call] === 0) failures[second]! += 1;
  });
  return {
    failing: Array.from(failures, (count, second) => count > 0.05 * calls[second]!),
    failed: failures.reduce((sum, count) => sum + count, 0),
  };
}
