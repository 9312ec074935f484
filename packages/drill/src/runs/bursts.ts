import type { Arm } from '../arms/arm.js';
import { derive } from '../model/draws.js';
import { faultModes } from '../model/fault-mode.js';
import { randomOutages } from '../model/outages.js';
import { quantileOf, sorted } from '../stats/quantile.js';
import { drive } from './drive.js';
import { loadOf, shareOfOk } from './trace.js';

export interface BurstOptions {
  readonly arm: Arm;
  /** How long an outage lasts on average. */
  readonly meanMs: number;
  readonly perSecond: number;
  readonly calls: number;
  readonly seed: number;
}

export interface BurstResult {
  readonly success: number;
  readonly load: number;
  readonly p95Ms: number;
}

/** The share of the time for which the upstream is down. */
const DOWN_SHARE = 0.2;
const burstLatency = { p95Ms: 50, sigma: 0.5 } as const;

/** With fewer outages than this, what is compared is their luck. */
const FEWEST = 20;

/** So many calls as wanted, or as it takes to see enough outages of this length. */
export function callsForBursts(wanted: number, meanMs: number, perSecond: number): number {
  return Math.ceil(Math.max(wanted, (FEWEST * perSecond * meanMs) / DOWN_SHARE / 1000));
}

/** The same share of failing requests as elsewhere, but all in a row: down, and up again. */
export async function runBursts({
  arm,
  meanMs,
  perSecond,
  calls,
  seed,
}: BurstOptions): Promise<BurstResult> {
  const untilMs = (2 * calls * 1000) / perSecond + 3_600_000;
  const outages = randomOutages({ seed: derive(seed, 3), meanMs, share: DOWN_SHARE, untilMs });
  const trace = await drive({
    arm,
    calls,
    seed,
    outages,
    latency: burstLatency,
    faults: faultModes.none,
    arrivals: { perSecond },
  });
  return {
    success: shareOfOk(trace),
    load: loadOf(trace),
    p95Ms: quantileOf(sorted(trace.tookMs), 0.95),
  };
}
