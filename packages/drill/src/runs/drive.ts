import { VirtualClock } from '@toolkeel/kernel/testing';
import type { Arm, CircuitEvent } from '../arms/arm.js';
import { begin, type Arrivals } from '../model/arrivals.js';
import { derive } from '../model/draws.js';
import { SimulatedUpstream, type UpstreamOptions } from '../model/simulated-upstream.js';
import type { Trace } from './trace.js';

export interface DriveOptions extends Omit<UpstreamOptions, 'clock'> {
  readonly arm: Arm;
  readonly arrivals: Arrivals;
  /** Nothing is looked at after this, so nothing is simulated. Default: until all is over. */
  readonly untilMs?: number;
  /** Is told each time the circuit opens, looks or closes. */
  readonly onCircuit?: (event: CircuitEvent, now: number) => void;
}

/** Runs calls through an arm against a simulated upstream, in virtual time, from a cold start. */
export async function drive(options: DriveOptions): Promise<Trace> {
  const { arm, arrivals, calls, seed, onCircuit } = options;
  const clock = new VirtualClock();
  const upstream = new SimulatedUpstream({ ...options, clock });
  const guarded = arm.build({ clock, upstream, seed: derive(seed, 1), onCircuit });

  const startedAt = new Float64Array(calls);
  const tookMs = new Float64Array(calls);
  const ok = new Uint8Array(calls);
  const start = async (call: number): Promise<void> => {
    const at = clock.now();
    startedAt[call] = at;
    const outcome = await guarded.outcome(call);
    tookMs[call] = clock.now() - at;
    ok[call] = outcome.ok ? 1 : 0;
  };
  begin(arrivals, { clock, seed, calls }, start);
  await (options.untilMs === undefined ? clock.drain() : clock.advanceTo(options.untilMs));
  return { calls, startedAt, tookMs, ok, attempts: upstream.attempts };
}
