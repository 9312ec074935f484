import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { Fault } from '../fault.js';

/** Plain numbers that only grow. */
export class Counters implements Layer {
  readonly name = 'counters';
  calls = 0;
  failures = 0;
  /** Requests that were begun: first attempts, retries and hedges. */
  attempts = 0;
  /** Attempts beyond the first. */
  retries = 0;
  /** Calls that the deadline ended. */
  timeouts = 0;
  /** Calls that failed although they had been retried, or would have been with budget left. */
  exhausted = 0;

  settled(call: Call, fault: Fault | undefined): void {
    this.calls++;
    this.attempts += call.attempts;
    if (call.attempts > 1) this.retries += call.attempts - 1;
    if (fault === undefined) return;
    this.failures++;
    if (fault.clock === 'deadline') this.timeouts++;
    if (call.gaveUp === 'exhausted' || call.gaveUp === 'budget') this.exhausted++;
  }
}

export function counters(): Counters {
  return new Counters();
}
