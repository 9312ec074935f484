import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { EventBody, KernelEvent, Listener } from '../events.js';
import type { Fault } from '../fault.js';
import type { ScopedOptions } from '../call-scope.js';
import { elapsedOf } from './health.js';

/** Reasons that do not produce `retry_give_up`, because no retry was possible. */
const withoutGiveUpEvent: readonly unknown[] = ['permanent', 'cancelled'];

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Converts hook calls to events for the listeners. */
class Observer implements Layer {
  readonly name = 'observe';
  readonly #listener: Listener | undefined;
  readonly #upstream: string | undefined;
  readonly #scoped: boolean;
  /** Attempts made when the last retry of a call was scheduled. */
  readonly #scheduledAt = new WeakMap<Call, number>();

  constructor(listener: Listener | undefined, upstream: string | undefined, scoped: boolean) {
    this.#listener = listener;
    this.#upstream = upstream;
    this.#scoped = scoped;
  }

  onEvent(call: Call, event: EventBody, now: number): void {
    const scopeListener = this.#scopeListener(call);
    if (!this.#listener && !scopeListener) return;
    // Completes the event in place: a copy costs more than the rest of an observed call.
    const whole = event as Writable<KernelEvent>;
    whole.correlationId = call.correlationId;
    whole.at = now;
    if (call.plan.name !== undefined) whole.name = call.plan.name;
    if (this.#upstream !== undefined) whole.upstream ??= this.#upstream;
    if (this.#listener) notify(this.#listener, whole);
    if (scopeListener) notify(scopeListener, whole);
  }

  afterAttempt(attempt: Attempt, fault: Fault | undefined, now: number): void {
    const { call, index } = attempt;
    if (!this.#listener && !this.#scopeListener(call)) return;
    const elapsedMs = elapsedOf(attempt, now);
    if (fault?.clock === 'attempt' || fault?.clock === 'idle') {
      this.onEvent(call, { type: 'timeout_abort', clock: fault.clock, elapsedMs }, now);
    }
    const end = { type: 'attempt_end', attempt: index, elapsedMs } as const;
    this.onEvent(call, fault === undefined ? end : { ...end, fault }, now);
  }

  onRetry(call: Call, afterMs: number, fault: Fault, now: number): void {
    this.#scheduledAt.set(call, call.attempts);
    this.onEvent(call, { type: 'retry_attempt', attempt: call.attempts, afterMs, fault }, now);
  }

  onSettled(call: Call, fault: Fault | undefined, now: number): void {
    if (!this.#listener && !this.#scopeListener(call)) return;
    const { attempts, startedAt, giveUpReason: reason } = call;
    const elapsedMs = now - startedAt;
    if (fault?.clock === 'deadline') {
      this.onEvent(call, { type: 'timeout_abort', clock: fault.clock, elapsedMs }, now);
    }
    if (fault !== undefined && reason !== undefined && !withoutGiveUpEvent.includes(reason)) {
      this.onEvent(call, { type: 'retry_give_up', attempts, reason, fault }, now);
    }
    const end = { type: 'call_end', attempts, elapsedMs } as const;
    if (fault === undefined) return this.onEvent(call, end, now);
    const isDropped = this.#scheduledAt.get(call) === attempts;
    this.onEvent(call, { ...end, fault, ...(isDropped && { retryDropped: true as const }) }, now);
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
    // A listener must not change the outcome of the call that it observes.
  }
}

/** Calls the listener with the events of each call. `upstream` is the upstream name in the events. */
export function observe(listener: Listener, upstream?: string): Layer {
  return new Observer(listener, upstream, false);
}

/** Like `observe`, and also calls the listener of the call's scope. One per pipeline. */
export function observeScoped(listener?: Listener, upstream?: string): Layer {
  return new Observer(listener, upstream, true);
}

/** Monotonic counters. */
class Counters implements Layer {
  readonly name = 'counters';
  calls = 0;
  failures = 0;
  /** Requests started: first attempts, retries and hedges. */
  attempts = 0;
  /** Attempts beyond the first. */
  retries = 0;
  /** Calls that reached the deadline. */
  timeouts = 0;
  /** Calls that failed after the last retry, or because the retry budget was empty. */
  exhausted = 0;

  onSettled(call: Call, fault: Fault | undefined): void {
    this.calls++;
    this.attempts += call.attempts;
    if (call.attempts > 1) this.retries += call.attempts - 1;
    if (!fault) return;
    this.failures++;
    if (fault.clock === 'deadline') this.timeouts++;
    if (call.giveUpReason === 'exhausted' || call.giveUpReason === 'budget') this.exhausted++;
  }
}

export function counters(): Counters {
  return new Counters();
}
