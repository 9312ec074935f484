import { shouldRetry, type GiveUpReason } from '../decide/should-retry.js';
import { MAX_TIMER_MS, refuse } from '../decide/validate.js';
import type { EventBody } from '../events.js';
import { type Fault, FaultError, toThrowable, type TimeoutClock } from '../fault.js';
import { Alarm } from '../time/alarms.js';
import type { Timer } from '../time/clock.js';
import { Attempt } from './attempt.js';
import type { AttemptFn, Layer, Plan } from './layer.js';

/** Options of one call. */
export interface CallOptions {
  /** Aborting it settles the call immediately, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Absolute deadline of the whole call on the pipeline's monotonic clock (`performance.now()`), the
   * clock of a tool context's `deadline`. The earliest deadline applies.
   */
  readonly deadline?: number | undefined;
  /** The same, relative to now. */
  readonly timeoutMs?: number | undefined;
  /** Included in every event of the call. Default: a random UUID. */
  readonly correlationId?: string | undefined;
  /** Calls of one route share latency statistics and rate limits. */
  readonly route?: string | undefined;
}

/**
 * The state machine of one call, from its start until it settles: attempts, backoffs, timeouts and
 * cancellation. Whether to retry is decided in `decide/should-retry.ts`; layers can refuse or observe.
 */
export class Call extends Alarm {
  readonly plan: Plan;
  readonly options: CallOptions | undefined;
  readonly startedAt: number;
  deadline: number;
  /** Attempts started, hedges included. */
  attempts = 0;
  /** The newest in-flight attempt; when hedging, the others follow as its siblings. */
  inFlight: Attempt | undefined = undefined;
  settled = false;
  /** Why the call failed, once it has. */
  giveUpReason: GiveUpReason | undefined = undefined;

  readonly #work: AttemptFn;
  readonly #input: unknown;
  readonly #asOutcome: boolean;
  #resolve: ((value: unknown) => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #rejections = 0;
  #entered = false;
  #mayHaveActed = false;
  #timer: Timer;
  #lastFault: Fault | undefined;
  #id: string | undefined;

  constructor(
    plan: Plan,
    work: AttemptFn,
    input: unknown,
    options: CallOptions | undefined,
    asOutcome: boolean,
  ) {
    super();
    this.plan = plan;
    this.options = options;
    this.startedAt = plan.clock.now();
    this.deadline = this.startedAt + plan.callTimeoutMs;
    this.#work = work;
    this.#input = input;
    this.#asOutcome = asOutcome;
  }

  get correlationId(): string {
    return (this.#id ??= this.options?.correlationId ?? crypto.randomUUID());
  }

  get route(): string | undefined {
    return this.options?.route;
  }

  /** Emits an event to the layers that observe. */
  emit(now: number, event: EventBody): void {
    for (const layer of this.plan.onEvent) layer.onEvent(this, event, now);
  }

  // ---- start ------------------------------------------------------------------------------

  /** Starts the call. The promise settles at the deadline even if the callee never does. */
  run(): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const { options, startedAt: now } = this;
      try {
        if (options) this.#applyOptions(options, now);
        if (!this.settled) this.#enter(now);
      } catch (cause) {
        this.#crash(cause);
      }
    });
  }

  #applyOptions(options: CallOptions, now: number): void {
    const { signal, deadline, timeoutMs } = options;
    // Options read from JSON may hold null; as a number that would be a deadline in the past.
    const until = Math.min(deadline ?? Infinity, now + (timeoutMs ?? Infinity));
    // Rejects NaN, and an epoch time, which would be a deadline in fifty years.
    if (!(until - now <= MAX_TIMER_MS || until === Infinity)) {
      refuse('timeoutMs or deadline', "must be a time on the pipeline's clock", until);
    }
    this.deadline = Math.min(this.deadline, until);
    if (signal?.aborted) this.cancel(signal.reason);
    else if (this.deadline <= now) this.#expire(now);
    else if (signal) listenForAbort(signal, this);
  }

  #enter(now: number): void {
    const admitted = this.plan.admission?.enter(this, now);
    if (typeof admitted === 'object') return this.giveUp('permanent', admitted, now);
    this.#entered = true;
    if (admitted === 'queued') this.resetAlarm();
    else this.#launch(now);
  }

  #launch(now: number): void {
    const { plan } = this;
    const { beforeAttempt, onAttempt } = plan;
    const attempt = new Attempt(this, this.attempts, now);
    for (let i = 0; i < beforeAttempt.length; i++) {
      const layer = beforeAttempt[i]!;
      const fault = layer.beforeAttempt(attempt, now);
      if (fault) return this.#rejectAttempt(attempt, fault, layer, now);
    }
    this.attempts++;
    attempt.sibling = this.inFlight;
    this.inFlight = attempt;
    // The first attempt of a call without its own deadline is the common case: a list append suffices.
    if (this.attempts > 1 || now !== this.startedAt || this.deadline !== now + plan.callTimeoutMs) {
      this.resetAlarm();
    } else if (plan.firstAlarms) {
      plan.alarms.remove(this);
      plan.alarms.append(this, now, plan.firstAlarmMs, plan.firstAlarms);
    }
    for (let i = 0; i < onAttempt.length; i++) onAttempt[i]!.onAttempt(attempt, now);
    void this.#runAttempt(attempt);
  }

  async #runAttempt(attempt: Attempt): Promise<void> {
    try {
      let value: unknown;
      try {
        value = await this.#work(this.#input, attempt);
      } catch (cause) {
        if (!attempt.done) this.#failAttempt(attempt, this.faultOf(cause), this.plan.clock.now());
        return;
      }
      if (attempt.done) return;
      const now = this.plan.clock.now();
      this.#endAttempt(attempt, undefined, now);
      this.#finish(undefined, now);
      this.#resolve!(this.#asOutcome ? { ok: true, value } : value);
    } catch (cause) {
      this.#crash(cause);
    }
  }

  faultOf(cause: unknown): Fault {
    try {
      const fault = cause instanceof FaultError ? cause.fault : this.plan.classify?.(cause);
      // A timeout of a nested call is the callee's, not this call's.
      if (fault?.kind)
        return ownClocks.includes(fault.clock) ? { ...fault, clock: 'callee' } : fault;
    } catch {
      // A classifier that throws counts as one that returns nothing.
    }
    return { kind: 'unexpected', sent: 'maybe', cause };
  }

  // ---- end of an attempt ------------------------------------------------------------------

  #failAttempt(attempt: Attempt, fault: Fault, now: number): void {
    if (fault.sent !== 'no' && !wasNotProcessed(fault)) this.#mayHaveActed = true;
    this.#endAttempt(attempt, fault, now);
    this.#decide(fault, now);
  }

  /** Removes an attempt from the in-flight ones and notifies the layers. */
  #endAttempt(attempt: Attempt, fault: Fault | undefined, now: number): void {
    attempt.done = true;
    if (this.inFlight === attempt) this.inFlight = attempt.sibling;
    for (let at = this.inFlight; at; at = at.sibling) {
      if (at.sibling === attempt) at.sibling = attempt.sibling;
    }
    this.#notifyAfterAttempt(attempt, fault, now);
  }

  /** Notifies all layers even if one throws, because each counts the in-flight attempts. */
  #notifyAfterAttempt(attempt: Attempt, fault: Fault | undefined, now: number): void {
    const { afterAttempt } = this.plan;
    let thrown: { cause: unknown } | undefined;
    for (let i = 0; i < afterAttempt.length; i++) {
      try {
        afterAttempt[i]!.afterAttempt(attempt, fault, now);
      } catch (cause) {
        thrown = { cause };
      }
    }
    if (thrown) throw thrown.cause;
  }

  /** Handles a layer's rejection of an attempt. The layers that had accepted it are notified. */
  #rejectAttempt(attempt: Attempt, fault: Fault, by: Layer, now: number): void {
    attempt.done = true;
    for (const layer of this.plan.beforeAttempt) {
      if (layer === by) break;
      layer.afterAttempt?.(attempt, fault, now);
    }
    // Another attempt is in flight, so this one was a hedge, which is optional.
    if (this.inFlight) return;
    this.#rejections++;
    // The fault that caused the retry is more informative than the circuit that has opened since.
    const last = this.#lastFault;
    if (fault.kind === 'circuit_open' && last) this.giveUp('circuit_open', last, now);
    else this.#decide(fault, now);
  }

  // ---- between attempts -------------------------------------------------------------------

  #decide(fault: Fault, now: number): void {
    this.#lastFault = fault;
    const { plan } = this;
    const made = Math.max(0, this.attempts + this.#rejections - 1);
    if (!plan.retry) return this.giveUp('exhausted', fault, now);
    for (const layer of plan.recover) {
      if (made < plan.retry.maxRetries && layer.recover(this, fault, now)) return;
    }
    const wallNow = plan.clock.wallNow();
    const decision = shouldRetry(fault, made, plan.retry, {
      effect: plan.effect,
      retryUnsent: plan.retryUnsent,
      random: plan.random,
      now: wallNow,
      deadline: wallNow + (this.deadline - now),
      observedMedianMs: plan.health?.medianFor(this.route, made),
    });
    // Another attempt is in flight and may succeed, unless this fault is permanent.
    if (this.inFlight && (decision.retry || decision.reason !== 'permanent')) return;
    if (!decision.retry) return this.giveUp(decision.reason, fault, now);
    for (const layer of plan.allowRetry) {
      if (!layer.allowRetry(this, now)) return this.giveUp('budget', fault, now);
    }
    this.retryAfter(plan.hedge?.skipsBackoff(this, fault) ? 0 : decision.afterMs, fault, now);
  }

  /** Schedules the next attempt. `shouldRetry` has checked that the wait fits the deadline. */
  retryAfter(afterMs: number, fault: Fault, now: number): void {
    const { plan } = this;
    for (const layer of plan.onRetry) layer.onRetry(this, afterMs, fault, now);
    plan.alarms.remove(this);
    this.#timer = plan.clock.setTimer(afterMs, () => {
      this.#timer = undefined;
      this.startAttempt(plan.clock.now());
    });
  }

  /** Starts an attempt, unless a blocked event loop made it late and the deadline has passed. */
  startAttempt(now: number): void {
    this.#safely(() => (now >= this.deadline ? this.#expire(now) : this.#launch(now)));
  }

  // ---- timeouts ---------------------------------------------------------------------------

  /** Sets the alarm to the earliest deadline, attempt timeout or idle timeout. */
  resetAlarm(): void {
    const { alarms, attemptTimeoutMs, idleTimeoutMs } = this.plan;
    let due = this.deadline;
    for (let at = this.inFlight; at; at = at.sibling) {
      due = Math.min(due, at.startedAt + attemptTimeoutMs, at.progressAt + idleTimeoutMs);
    }
    alarms.set(this, due);
  }

  override onDue(now: number): void {
    this.#safely(() => (now >= this.deadline ? this.#expire(now) : this.#timeOutAttempts(now)));
  }

  #timeOutAttempts(now: number): void {
    const { attemptTimeoutMs, idleTimeoutMs } = this.plan;
    for (let at = this.inFlight; at && !this.settled; at = at.sibling) {
      if (now >= at.startedAt + attemptTimeoutMs) this.#timeOutAttempt(at, 'attempt', now);
      else if (now >= at.progressAt + idleTimeoutMs) this.#timeOutAttempt(at, 'idle', now);
    }
    if (!this.settled && this.#timer === undefined) this.resetAlarm();
  }

  /** Ends one attempt with a timeout; the call may retry. */
  #timeOutAttempt(attempt: Attempt, clock: TimeoutClock, now: number): void {
    const fault: Fault = { kind: 'timeout', sent: attempt.sent, clock };
    attempt.abandon(fault);
    this.#failAttempt(attempt, fault, now);
  }

  /** Ends the call at its deadline, whatever the callee does. */
  #expire(now: number): void {
    this.giveUp('deadline', { kind: 'timeout', sent: 'no', clock: 'deadline' }, now);
  }

  cancel(cause: unknown): void {
    const fault: Fault = { kind: 'cancelled', sent: 'no', cause };
    this.#safely(() => this.giveUp('cancelled', fault, this.plan.clock.now()));
  }

  // ---- end of the call --------------------------------------------------------------------

  giveUp(reason: GiveUpReason, fault: Fault, now: number): void {
    if (this.settled) return;
    this.giveUpReason = reason;
    for (let at = this.inFlight; at; at = at.sibling) {
      if (at.sent !== 'no') this.#mayHaveActed = true;
    }
    // The last fault describes one attempt; the result describes all of them.
    if (this.#mayHaveActed && (fault.sent === 'no' || wasNotProcessed(fault))) {
      fault = { ...fault, sent: 'maybe' };
    }
    this.#finish(fault, now);
    this.#fail(fault);
  }

  /** Runs a step that a timer or a signal started, where no caller can catch a layer's exception. */
  #safely(step: () => void): void {
    try {
      step();
    } catch (cause) {
      this.#crash(cause);
    }
  }

  /** Settles the call after a layer threw: a bug in a layer must not leave the caller hanging. */
  #crash(cause: unknown): void {
    const fault: Fault = { kind: 'unexpected', sent: this.attempts ? 'maybe' : 'no', cause };
    try {
      if (!this.settled) this.#finish(fault, this.plan.clock.now());
    } catch {
      // A layer threw again; the call has released its own resources before it notified the layers.
    }
    this.#fail(fault);
  }

  #fail(fault: Fault): void {
    if (this.#asOutcome) this.#resolve!({ ok: false, fault });
    else this.#reject!(toThrowable(fault, this.attempts));
  }

  /**
   * Releases the alarm, timer, abort listener, bulkhead slot and in-flight attempts. The call's own
   * resources come first, so that a layer that throws cannot leak them.
   */
  #finish(fault: Fault | undefined, now: number): void {
    this.settled = true;
    const { plan, options, inFlight } = this;
    plan.alarms.remove(this);
    if (this.#timer !== undefined) plan.clock.clearTimer(this.#timer);
    if (options?.signal) stopListening(options.signal, this);
    if (this.#entered) plan.admission?.leave(this, now);
    this.inFlight = undefined;
    for (let at = inFlight; at; at = at.sibling) this.#abandon(at, fault, now);
    const { onSettled } = plan;
    for (let i = 0; i < onSettled.length; i++) onSettled[i]!.onSettled(this, fault, now);
  }

  /** Ends an in-flight attempt: the loser of a hedge, or an attempt of a call that gave up. */
  #abandon(attempt: Attempt, fault: Fault | undefined, now: number): void {
    // A caller's deadline that is shorter than the policy's counts as a cancellation: it is no
    // evidence of a slow upstream. Neither is an attempt that waited for reasons of its own.
    const why: Fault =
      !fault ||
      attempt.startedAt === Infinity ||
      (fault.clock === 'deadline' && this.deadline < this.startedAt + this.plan.callTimeoutMs)
        ? { kind: 'cancelled', sent: attempt.sent }
        : fault;
    attempt.abandon(why);
    this.#notifyAfterAttempt(attempt, why, now);
  }
}

/** Timeouts that belong to a single call. An idle timeout means the same at any level. */
const ownClocks: readonly unknown[] = ['deadline', 'attempt'];

/** Whether the upstream answered that it did not process the request. */
function wasNotProcessed({ kind, sent }: Fault): boolean {
  return sent === 'answered' && ['rate_limited', 'auth', 'rejected'].includes(kind);
}

const callsBySignal = new WeakMap<AbortSignal, Set<Call>>();

/**
 * Registers a call with its caller's signal. Calls with the same signal share one listener, because
 * Node.js reports many listeners on one signal as a leak.
 */
function listenForAbort(signal: AbortSignal, call: Call): void {
  let calls = callsBySignal.get(signal);
  if (!calls) callsBySignal.set(signal, (calls = new Set()));
  // A listener that is registered already is not added again.
  signal.addEventListener('abort', onAbort, { once: true });
  calls.add(call);
}

function stopListening(signal: AbortSignal, call: Call): void {
  const calls = callsBySignal.get(signal);
  if (calls?.delete(call) && calls.size === 0) signal.removeEventListener('abort', onAbort);
}

function onAbort(this: AbortSignal): void {
  for (const call of callsBySignal.get(this) ?? []) call.cancel(this.reason);
}
