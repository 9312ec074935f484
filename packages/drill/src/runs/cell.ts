import type { Arm } from '../arms/arm.js';
import type { Arrivals } from '../model/arrivals.js';
import { derive, draw } from '../model/draws.js';
import { faultModes, type FaultModeName } from '../model/fault-mode.js';
import { ratioInterval, type Interval } from '../stats/interval.js';
import { lognormalQuantile, type Lognormal } from '../stats/lognormal.js';
import { quantileOf, sorted } from '../stats/quantile.js';
import { drive } from './drive.js';
import { loadOf, shareOfOk } from './trace.js';

export interface CellOptions {
  readonly arm: Arm;
  readonly latency: Lognormal;
  readonly faults: FaultModeName;
  /** Another share of failing requests than the mode's own. */
  readonly faultRate?: number;
  readonly arrivals: Arrivals;
  readonly calls: number;
  readonly seed: number;
}

export interface CellResult {
  readonly success: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** p95 of all calls ÷ p95 of all calls without faults, and the 95 % interval of it. */
  readonly ratio: number;
  readonly interval: Interval;
  /** Requests for each call. */
  readonly load: number;
  readonly maxAttempts: number;
  readonly maxWallMs: number;
}

/** One arm against one latency and one kind of fault. */
export async function runCell(options: CellOptions): Promise<CellResult> {
  const { seed, faultRate } = options;
  const mode = faultModes[options.faults];
  const faults = faultRate === undefined ? mode : { ...mode, rate: faultRate };
  const trace = await drive({ ...options, faults });
  const without = faultFree(options);
  const took = sorted(trace.tookMs);
  return {
    success: shareOfOk(trace),
    p50Ms: quantileOf(took, 0.5),
    p95Ms: quantileOf(took, 0.95),
    p99Ms: quantileOf(took, 0.99),
    ratio: quantileOf(took, 0.95) / quantileOf(sorted(without), 0.95),
    interval: ratioInterval(trace.tookMs, without, { q: 0.95, seed: derive(seed, 2) }),
    load: loadOf(trace),
    maxAttempts: trace.attempts.reduce((most, one) => Math.max(most, one), 0),
    maxWallMs: took[took.length - 1] ?? 0,
  };
}

/** What the same calls take when nothing fails: their first answers, whatever the policy. */
function faultFree({ calls, seed, latency }: CellOptions): Float64Array {
  return Float64Array.from({ length: calls }, (_, call) =>
    lognormalQuantile(latency, draw(seed, 'latency', call)),
  );
}
