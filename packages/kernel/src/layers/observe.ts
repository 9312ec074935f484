import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { EventBody, KernelEvent, Listener } from '../events.js';
import type { Fault } from '../fault.js';

/** Why a call failed, where no retry would have been made in any case. */
const expected: readonly unknown[] = ['permanent', 'cancelled'];

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Turns what the hooks see into events. A pipeline without it computes no events at all. */
class Observer implements Layer {
  readonly name = 'observe';
  readonly #listener: Listener;
  readonly #upstream: string | undefined;

  constructor(listener: Listener, upstream: string | undefined) {
    this.#listener = listener;
    this.#upstream = upstream;
  }

  told(call: Call, event: EventBody, now: number): void {
    // Set on the event itself: copying it costs more than all the rest of an observed call.
    const whole = event as Writable<KernelEvent>;
    whole.correlationId = call.correlationId;
    whole.at = now;
    if (call.plan.name !== undefined) whole.name = call.plan.name;
    if (this.#upstream !== undefined) whole.upstream ??= this.#upstream;
    try {
      const done = this.#listener(whole);
      if (done instanceof Promise) done.catch(() => undefined);
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
    const end = { type: 'attempt_end', attempt: index, elapsedMs } as const;
    this.told(call, fault === undefined ? end : { ...end, fault }, now);
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
    const end = { type: 'call_end', attempts, elapsedMs } as const;
    this.told(call, fault === undefined ? end : { ...end, fault }, now);
  }
}

/** Calls a listener with typed events of calls. `upstream`: the name that the events carry. */
export function observe(listener: Listener, upstream?: string): Layer {
  return new Observer(listener, upstream);
}
