import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { EventBody, KernelEvent, Listener } from '../events.js';
import type { Fault } from '../fault.js';
import type { ScopedOptions } from '../call-scope.js';

/** Why a call failed, where no retry would have been made in any case. */
const expected: readonly unknown[] = ['permanent', 'cancelled'];

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Turns what the hooks see into events. A pipeline without it computes no events at all. */
class Observer implements Layer {
  readonly name = 'observe';
  readonly #listener: Listener | undefined;
  readonly #upstream: string | undefined;
  readonly #scoped: boolean;
  /** How many attempts had been made when a call's last retry was announced. */
  readonly #announced = new WeakMap<Call, number>();

  constructor(listener: Listener | undefined, upstream: string | undefined, scoped: boolean) {
    this.#listener = listener;
    this.#upstream = upstream;
    this.#scoped = scoped;
  }

  told(call: Call, event: EventBody, now: number): void {
    const inScope = this.#scopeListener(call);
    if (!this.#listener && !inScope) return;
    // Set on the event itself: copying it costs more than all the rest of an observed call.
    const whole = event as Writable<KernelEvent>;
    whole.correlationId = call.correlationId;
    whole.at = now;
    if (call.plan.name !== undefined) whole.name = call.plan.name;
    if (this.#upstream !== undefined) whole.upstream ??= this.#upstream;
    if (this.#listener) notify(this.#listener, whole);
    if (inScope) notify(inScope, whole);
  }

  after(attempt: Attempt, fault: Fault | undefined, now: number): void {
    const { call, index, startedAt } = attempt;
    if (!this.#listener && !this.#scopeListener(call)) return;
    const elapsedMs = now - startedAt;
    if (fault?.clock === 'attempt' || fault?.clock === 'idle') {
      this.told(call, { type: 'timeout_abort', clock: fault.clock, elapsedMs }, now);
    }
    const end = { type: 'attempt_end', attempt: index, elapsedMs } as const;
    this.told(call, fault === undefined ? end : { ...end, fault }, now);
  }

  retrying(call: Call, afterMs: number, fault: Fault, now: number): void {
    this.#announced.set(call, call.attempts);
    this.told(call, { type: 'retry_attempt', attempt: call.attempts, afterMs, fault }, now);
  }

  settled(call: Call, fault: Fault | undefined, now: number): void {
    if (!this.#listener && !this.#scopeListener(call)) return;
    const { attempts, startedAt, gaveUp: reason } = call;
    const elapsedMs = now - startedAt;
    if (fault?.clock === 'deadline') {
      this.told(call, { type: 'timeout_abort', clock: fault.clock, elapsedMs }, now);
    }
    if (fault !== undefined && reason !== undefined && !expected.includes(reason)) {
      this.told(call, { type: 'retry_give_up', attempts, reason, fault }, now);
    }
    const end = { type: 'call_end', attempts, elapsedMs } as const;
    if (fault === undefined) return this.told(call, end, now);
    const isDropped = this.#announced.get(call) === attempts;
    this.told(call, { ...end, fault, ...(isDropped && { retryDropped: true as const }) }, now);
  }

  #scopeListener(call: Call): Listener | undefined {
    const options: ScopedOptions | undefined = call.options;
    return this.#scoped ? options?.listener : undefined;
  }
}

function notify(listener: Listener, event: KernelEvent): void {
  try {
    const done = listener(event);
    if (done instanceof Promise) done.catch(() => undefined);
  } catch {
    // A listener cannot change the outcome of the call that it observes.
  }
}

/** Calls a listener with typed events of calls. `upstream`: the name that the events carry. */
export function observe(listener: Listener, upstream?: string): Layer {
  return new Observer(listener, upstream, false);
}

/** The same, and the listener of the scope that a call began in: one such layer in a pipeline. */
export function observeScoped(listener?: Listener, upstream?: string): Layer {
  return new Observer(listener, upstream, true);
}

/** Plain numbers that only grow. */
class Counters implements Layer {
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
