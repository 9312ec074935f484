import { VirtualClock } from '@toolkeel/kernel/testing';
import type { Variant, CircuitEvent } from './variants.js';
import { type Arrivals, begin, derive, draw, type FaultModeName, faultModes } from './model.js';
import { SimulatedUpstream, type UpstreamOptions } from './simulated-upstream.js';
import {
  type Lognormal,
  lognormalQuantile,
  p95Of,
  quantileOf,
  ratioInterval,
} from '../stats/stats.js';

/** The latency of the scenarios that do not compare latencies. */
export const usualLatency = { p95Ms: 200, sigma: 0.5 } as const;

/** The options that every scenario has. */
export interface ScenarioOptions {
  readonly variant: Variant;
  readonly seed: number;
}

/** The result of each call of a run. */
export interface Trace {
  readonly calls: number;
  readonly startedAt: Float64Array;
  readonly tookMs: Float64Array;
  readonly ok: Uint8Array;
  /** Requests that reached the upstream. */
  readonly attempts: Uint16Array;
}

export function shareOfOk({ ok, calls }: Trace): number {
  return ok.reduce((sum, one) => sum + one, 0) / calls;
}

/** Requests for each call: 1 without any retry. */
export function loadOf({ attempts, calls }: Trace): number {
  return attempts.reduce((sum, one) => sum + one, 0) / calls;
}

interface DriveOptions extends Omit<UpstreamOptions, 'clock'> {
  readonly variant: Variant;
  readonly arrivals: Arrivals;
  /** When the simulation stops. Default: when every call has ended. */
  readonly untilMs?: number;
  /** Called when the circuit opens, half-opens or closes. */
  readonly onCircuit?: (event: CircuitEvent, now: number) => void;
}

/** Runs calls through a variant against a simulated upstream, in virtual time, from a cold start. */
export async function drive(options: DriveOptions): Promise<Trace> {
  const { variant, arrivals, calls, seed, onCircuit } = options;
  const clock = new VirtualClock();
  const upstream = new SimulatedUpstream({ ...options, clock });
  const resilient = variant.build({ clock, upstream, seed: derive(seed, 1), onCircuit });

  const startedAt = new Float64Array(calls);
  const tookMs = new Float64Array(calls);
  const ok = new Uint8Array(calls);
  const start = async (call: number): Promise<void> => {
    const at = clock.now();
    startedAt[call] = at;
    const outcome = await resilient.outcome(call);
    tookMs[call] = clock.now() - at;
    ok[call] = outcome.ok ? 1 : 0;
  };
  begin(arrivals, { clock, seed, calls }, start);
  await (options.untilMs === undefined ? clock.drain() : clock.advanceTo(options.untilMs));
  return { calls, startedAt, tookMs, ok, attempts: upstream.attempts };
}

export interface CellOptions extends ScenarioOptions {
  readonly latency: Lognormal;
  readonly faults: FaultModeName;
  /** Overrides the share of failing requests of the mode. */
  readonly faultRate?: number;
  readonly arrivals: Arrivals;
  readonly calls: number;
}

export type CellResult = Awaited<ReturnType<typeof runCell>>;

/** One variant against one latency and one fault mode. */
export async function runCell(options: CellOptions) {
  const { seed, faultRate } = options;
  const mode = faultModes[options.faults];
  const faults = faultRate === undefined ? mode : { ...mode, rate: faultRate };
  const trace = await drive({ ...options, faults });
  const without = faultFree(options);
  const took = trace.tookMs.toSorted();
  return {
    success: shareOfOk(trace),
    p50Ms: quantileOf(took, 0.5),
    p95Ms: quantileOf(took, 0.95),
    p99Ms: quantileOf(took, 0.99),
    /** p95 of all calls ÷ p95 of all calls without faults, and the 95 % interval of it. */
    ratio: quantileOf(took, 0.95) / p95Of(without),
    interval: ratioInterval(trace.tookMs, without, { q: 0.95, seed: derive(seed, 2) }),
    load: loadOf(trace),
    maxAttempts: trace.attempts.reduce((most, one) => Math.max(most, one), 0),
    maxWallMs: took[took.length - 1] ?? 0,
  };
}

/** The latency of the same calls without faults, the same for every policy. */
export function faultFree({
  calls,
  seed,
  latency,
}: Pick<CellOptions, 'calls' | 'seed' | 'latency'>): Float64Array {
  return Float64Array.from({ length: calls }, (_, call) =>
    lognormalQuantile(latency, draw(seed, 'latency', call)),
  );
}
