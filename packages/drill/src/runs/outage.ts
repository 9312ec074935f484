import type { Arm } from '../arms/arm.js';
import { faultModes } from '../model/fault-mode.js';
import type { Outage } from '../model/outages.js';
import { arrivalTimes } from '../model/arrivals.js';
import { drive } from './drive.js';

export interface OutageOptions {
  readonly arm: Arm;
  readonly perSecond: number;
  /** `fast`: everything fails at once. `hang`: nothing answers at all. */
  readonly how: 'fast' | 'hang';
  /** How long all was well before. */
  readonly warmMs: number;
  /** Calls that begin within the outage. */
  readonly calls: number;
  readonly seed: number;
}

export interface OutageResult {
  /** Requests for each of the first 1,000 calls. */
  readonly load: number;
  /** The same for the calls after the circuit first opened; undefined if it never did. */
  readonly loadOnceOpen: number | undefined;
  readonly opensAfterMs: number | undefined;
  /** How long a caller waits for the bad news, on average. */
  readonly meanMsToFail: number;
}

const FIRST = 1000;
/** Baseline of all scenarios in which the latency is not what is looked at. */
export const usualLatency = { p95Ms: 200, sigma: 0.5 } as const;

/** All is well, and then nothing works any more. */
export async function runOutage(options: OutageOptions): Promise<OutageResult> {
  const { arm, perSecond, how, warmMs, seed } = options;
  const before = Math.round((warmMs * perSecond) / 1000);
  const calls = before + options.calls;
  const from = arrivalTimes({ perSecond, seed, calls: before + 1 })[before] ?? 0;
  const outages: Outage[] = [{ from, to: Infinity }];
  let openedAt: number | undefined;
  const trace = await drive({
    arm,
    calls,
    seed,
    outages,
    outageHangs: how === 'hang',
    latency: usualLatency,
    faults: faultModes.none,
    arrivals: { perSecond },
    onCircuit: (event, now) => {
      if (event === 'circuit_open') openedAt ??= now;
    },
  });
  const first = mean(trace.attempts.subarray(before, before + FIRST));
  const since = openedAt === undefined ? -1 : trace.startedAt.findIndex((at) => at >= openedAt!);
  return {
    load: first,
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
