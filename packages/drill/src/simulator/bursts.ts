import { derive, draw, faultModes, type Outage, OutageSchedule, randomOutages } from './model.js';
import { p95Of } from '../stats/stats.js';
import { drive, loadOf, type ScenarioOptions, shareOfOk } from './cell.js';

interface BurstOptions extends ScenarioOptions {
  /** How long an outage lasts on average. */
  readonly meanMs: number;
  readonly perSecond: number;
  readonly calls: number;
}

/** The share of the time for which the upstream is down. */
const DOWN_SHARE = 0.2;
const burstLatency = { p95Ms: 50, sigma: 0.5 } as const;

/** With fewer outages the comparison is dominated by chance. */
const MIN_OUTAGES = 20;

/** At least `wanted` calls, and enough to meet `MIN_OUTAGES` outages of this length. */
export function callsForBursts(wanted: number, meanMs: number, perSecond: number): number {
  return Math.ceil(Math.max(wanted, (MIN_OUTAGES * perSecond * meanMs) / DOWN_SHARE / 1000));
}

/** The same share of failing requests as in the cells, but consecutive: intermittent outages. */
export async function runBursts({ variant, meanMs, perSecond, calls, seed }: BurstOptions) {
  const untilMs = (2 * calls * 1000) / perSecond + 3_600_000;
  const outages = randomOutages({ seed: derive(seed, 3), meanMs, share: DOWN_SHARE, untilMs });
  const trace = await drive({
    variant,
    calls,
    seed,
    outages,
    latency: burstLatency,
    faults: faultModes.none,
    arrivals: { perSecond },
  });
  return { success: shareOfOk(trace), load: loadOf(trace), p95Ms: p95Of(trace.tookMs) };
}

/** `warm`: one process meets all bursts. `cold`: every burst meets a new process. */
export type BurstStart = 'warm' | 'cold';

interface InsideBurstOptions extends ScenarioOptions {
  readonly start: BurstStart;
  readonly burstMs: number;
  readonly perSecond: number;
  /** The p95 of the upstream while it is healthy. */
  readonly p95Ms: number;
  /** About how many calls begin inside a burst. */
  readonly calls: number;
}

/** Mean time between two bursts. It varies by half, so that no policy synchronizes with it. */
const GAP_MS = 5_000;
const WARM_MS = 12_000;

/** A healthy upstream with bursts in which it fails every request immediately. */
export async function runInsideBursts(options: InsideBurstOptions) {
  const { start, burstMs, perSecond, seed } = options;
  const bursts = Math.ceil((options.calls * 1000) / (perSecond * burstMs));
  const inside: InsideTotals = { calls: 0, ok: 0, maxAttempts: 0, maxWallMs: 0 };
  if (start === 'warm') {
    const outages = consecutiveBursts(bursts, burstMs, seed);
    const calls = Math.ceil((outages.at(-1)!.to * perSecond) / 1000);
    await observe(options, outages, calls, inside);
  } else {
    // Twice the expected number of calls, so that random arrivals always fill the burst.
    const calls = Math.ceil((2 * perSecond * burstMs) / 1000) + 2;
    for (let n = 0; n < bursts; n++) {
      const run = { ...options, seed: derive(seed, n) };
      await observe(run, [{ from: 0, to: burstMs }], calls, inside);
    }
  }
  const { ok, ...rest } = inside;
  return { ...rest, success: ok / inside.calls };
}

/** The standard error of the difference between two shares. */
export function standardError(
  ...shares: readonly { readonly success: number; readonly calls: number }[]
): number {
  const variances = shares.map(({ success, calls }) => (success * (1 - success)) / calls);
  return Math.sqrt(variances.reduce((sum, variance) => sum + variance, 0));
}

/** Calls that began inside a burst. */
interface InsideTotals {
  calls: number;
  ok: number;
  maxAttempts: number;
  maxWallMs: number;
}

async function observe(
  { variant, perSecond, p95Ms, seed }: InsideBurstOptions,
  outages: readonly Outage[],
  calls: number,
  inside: InsideTotals,
): Promise<void> {
  const trace = await drive({
    variant,
    calls,
    seed,
    outages,
    outageKind: 'instant',
    latency: { p95Ms, sigma: 0.5 },
    faults: faultModes.none,
    arrivals: { perSecond },
  });
  const schedule = new OutageSchedule(outages);
  trace.startedAt.forEach((at, call) => {
    if (!schedule.isDown(at)) return;
    inside.calls++;
    inside.ok += trace.ok[call]!;
    inside.maxAttempts = Math.max(inside.maxAttempts, trace.attempts[call]!);
    inside.maxWallMs = Math.max(inside.maxWallMs, trace.tookMs[call]!);
  });
}

function consecutiveBursts(count: number, burstMs: number, seed: number): Outage[] {
  let at = WARM_MS;
  return Array.from({ length: count }, (_, n) => {
    const from = at + GAP_MS * (0.5 + draw(seed, 'outage', n));
    at = from + burstMs;
    return { from, to: at };
  });
}
