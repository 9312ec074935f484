import type { Arm } from '../arms/arm.js';
import type { Arrivals } from '../model/arrivals.js';
import { derive } from '../model/draws.js';
import { faultModes } from '../model/fault-mode.js';
import { drive } from './drive.js';
import { usualLatency } from './usual.js';

export interface FalseOpenOptions {
  readonly arm: Arm;
  readonly faultRate: number;
  readonly arrivals: Arrivals;
  /** Fresh starts: a breaker errs when it knows little. */
  readonly runs: number;
  readonly callsPerRun: number;
  readonly seed: number;
}

export interface FalseOpenResult {
  /** Runs in which the circuit opened although most requests succeeded. */
  readonly opened: number;
  readonly runs: number;
}

/** Does the circuit stay closed while single requests fail? */
export async function runFalseOpens(options: FalseOpenOptions): Promise<FalseOpenResult> {
  const { arm, faultRate, arrivals, runs, callsPerRun, seed } = options;
  let opened = 0;
  for (let run = 0; run < runs; run++) {
    let opens = 0;
    await drive({
      arm,
      arrivals,
      calls: callsPerRun,
      seed: derive(seed, 100 + run),
      latency: usualLatency,
      faults: { ...faultModes.fast, rate: faultRate },
      onCircuit: (event) => {
        if (event === 'circuit_open') opens++;
      },
    });
    if (opens > 0) opened++;
  }
  return { opened, runs };
}
