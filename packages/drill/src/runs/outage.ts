import type { Arm } from '../arms/arm.js';
import { arrivalTimes } from '../model/arrivals.js';
import { faultModes } from '../model/fault-mode.js';
import type { OutageKind } from '../model/outages.js';
import { drive } from './drive.js';
import { usualLatency } from './usual.js';

export interface OutageOptions {
  readonly arm: Arm;
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
