import { VirtualClock } from '@toolkeel/kernel/testing';
import type { Arm } from '../arms/arm.js';
import { begin, type Arrivals } from '../model/arrivals.js';
import { SimulatedUpstream, type UpstreamOptions } from '../model/simulated-upstream.js';
import { derive } from '../model/draws.js';
import type { Trace } from './trace.js';

export interface RunOptions extends Omit<UpstreamOptions, 'clock'> {
  readonly arm: Arm;
  readonly arrivals: Arrivals;
  /** Is told each time the circuit opens or closes. */
  readonly onCircuit?: (
    event: 'circuit_open' | 'circuit_half_open' | 'circuit_close',
    now: number,
  ) => void;
  /** Is told of every request that reaches the upstream. */
  readonly onRequest?: (now: number) => void;
}

/** Runs calls through an arm against a simulated upstream, in virtual time from a cold start. */
export async function drive(options: RunOptions): Promise<Trace> {
  const { arm, arrivals, calls, seed, onCircuit } = options;
  const clock = new VirtualClock();
  const upstream = new SimulatedUpstream({ ...options, clock });
  upstream.onRequest = options.onRequest;
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
  await clock.drain();
  return { calls, startedAt, tookMs, ok, attempts: upstream.attempts };
}
