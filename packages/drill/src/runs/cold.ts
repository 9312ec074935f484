import type { Arm } from '../arms/arm.js';
import { derive, draw } from '../model/draws.js';
import { faultModes } from '../model/fault-mode.js';
import { lognormalQuantile } from '../stats/lognormal.js';
import { quantileOf, sorted } from '../stats/quantile.js';
import { drive } from './drive.js';
import { shareOfOk } from './trace.js';

export interface ColdOptions {
  readonly arm: Arm;
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
const FIRST = 20;

/** Many processes that have just started, each with its first calls. */
export async function runCold({
  arm,
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
      arm,
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
  const early = (_: number, i: number): boolean => i % CALLS_PER_RUN < FIRST;
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
