import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { EventBody, Listener } from '../events.js';
import type { Fault } from '../fault.js';

/** Why a call failed, where no retry would have been made in any case. */
const expected: readonly unknown[] = ['permanent', 'cancelled'];

/** Turns what the hooks see into events. A pipeline without it computes no events at all. */
class Observer implements Layer {
  readonly name = 'observe';
  readonly #listener: Listener;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  told(call: Call, event: EventBody, now: number): void {
    const { name } = call.plan;
    const { correlationId } = call;
    const whole = { ...event, correlationId, at: now, ...(name === undefined ? {} : { name }) };
    try {
      this.#listener(whole);
    } catch {
      // Whoever watches a call must not be able to change what becomes of it.
    }
  }

  after(attempt: Attempt, fault: Fault | undefined, now: number): void {
    const { call, index, startedAt } = attempt;
    const elapsedMs = now - startedAt;
    if (fault?.clock === 'attempt' || fault?.clock === 'idle') {
      this.told(call, { type: 'timeout_abort', clock: fault.clock, elapsedMs }, now);
    }
    this.told(call, { type: 'attempt_end', attempt: index, elapsedMs, ...given(fault) }, now);
  }

  retrying(call: Call, afterMs: number, fault: Fault, now: number): void {
    this.told(call, { type: 'retry_attempt', attempt: call.attempts, afterMs, fault }, now);
  }

  settled(call: Call, fault: Fault | undefined, now: number): void {
    const { attempts, startedAt, gaveUp: reason } = call;
    const elapsedMs = now - startedAt;
    if (fault?.clock === 'deadline') {
      this.told(call, { type: 'timeout_abort', clock: fault.clock, elapsedMs }, now);
    }
    if (fault !== undefined && reason !== undefined && !expected.includes(reason)) {
      this.told(call, { type: 'retry_give_up', attempts, reason, fault }, now);
    }
    this.told(call, { type: 'call_end', attempts, elapsedMs, ...given(fault) }, now);
  }
}

/** Tells a listener, in typed events, what happens to calls. */
export function observe(listener: Listener): Layer {
  return new Observer(listener);
}

function given(fault: Fault | undefined): { fault?: Fault } {
  return fault === undefined ? {} : { fault };
}
