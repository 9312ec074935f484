import { shouldRetry, type GiveUpReason } from '../decide/should-retry.js';
import { MAX_TIMER_MS, refuse } from '../decide/validate.js';
import type { EventBody } from '../events.js';
import { type Fault, FaultError, thrownFor, type TimeoutClock } from '../fault.js';
import { Alarm } from '../time/alarms.js';
import type { Timer } from '../time/clock.js';
import { Attempt } from './attempt.js';
import type { AttemptFn, Layer, Plan } from './layer.js';

/** What one call may bring along. */
export interface CallOptions {
  /** The caller's signal. Aborting settles the call at once, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * When the whole call must be over, on the monotonic clock of the pipeline (`performance.now()`), as
   * the `deadline` of a tool's context is. The earliest deadline holds.
   */
  readonly deadline?: number | undefined;
  /** The same, from now on. */
  readonly timeoutMs?: number | undefined;
  /** Stands in every event of the call. Made up where it is not given. */
  readonly correlationId?: string | undefined;
  /** Calls of one route take about the same time and share the upstream's limits. */
  readonly route?: string | undefined;
}

/**
 * One guarded call, from its start to the one moment when it settles: attempts, waits between
 * them, and everything that can end it early. This is the state machine; what to do is decided in
 * `decide/`, who may do it in the layers.
 */
export class Call extends Alarm {
  readonly plan: Plan;
  readonly options: CallOptions | undefined;
  readonly startedAt: number;
  deadline: number;
  /** Attempts begun, hedges included. */
  attempts = 0;
  /** The attempts that are under way: one, or more when hedging. */
  live: Attempt | undefined = undefined;
  settled = false;
  /** Why it failed, once it has. */
  gaveUp: GiveUpReason | undefined = undefined;

  readonly #work: AttemptFn;
  readonly #input: unknown;
  readonly #asOutcome: boolean;
  #resolve: ((value: unknown) => void) | undefined = undefined;
  #reject: ((reason: unknown) => void) | undefined = undefined;
  #refusals = 0;
  #entered = false;
  #mayHaveActed = false;
  #timer: Timer = undefined;
  #lastFault: Fault | undefined = undefined;
  #id: string | undefined = undefined;

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

  /** For layers: something happened that an observer may want to hear of. */
  tell(now: number, event: EventBody): void {
    for (const layer of this.plan.tolds) layer.told(this, event, now);
  }

  // ---- the way in -------------------------------------------------------------------------

  /** A promise that settles when the call does, even if its callee never will. */
  run(): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const { options, startedAt: now } = this;
      try {
        if (options === undefined || this.#accept(options, now)) this.#enter(now);
      } catch (cause) {
        this.#crash(cause);
      }
    });
  }

  #accept(options: CallOptions, now: number): boolean {
    const { signal, deadline, timeoutMs } = options;
    // Null is none, as where it was read from JSON; as a number it would be no time at all.
    const until = Math.min(deadline ?? Infinity, now + (timeoutMs ?? Infinity));
    // Not a number, or an epoch time, which would be a deadline in fifty years.
    if (!(until - now <= MAX_TIMER_MS || until === Infinity)) {
      refuse('timeoutMs or deadline', "must be a time on the pipeline's clock", until);
    }
    this.deadline = Math.min(this.deadline, until);
    if (signal?.aborted) this.cancel(signal.reason);
    else if (this.deadline <= now) this.#expire(now);
    else if (signal !== undefined) listenForAbort(signal, this);
    return !this.settled;
  }

  #enter(now: number): void {
    const answer = this.plan.admission?.enter(this, now);
    if (typeof answer === 'object') return this.giveUp('permanent', answer, now);
    this.#entered = true;
    if (answer === 'queued') this.rearm();
    else this.#launch(now);
  }

  #launch(now: number): void {
    const { plan } = this;
    const { befores, launcheds } = plan;
    const attempt = new Attempt(this, this.attempts, now);
    for (let i = 0; i < befores.length; i++) {
      const fault = befores[i]!.before(attempt, now);
      if (fault !== undefined) return this.#refused(attempt, fault, befores[i]!, now);
    }
    this.attempts++;
    attempt.sibling = this.live;
    this.live = attempt;
    // The common case: the plan's own clocks come first, so that the alarm's place is known.
    if (this.attempts > 1 || now !== this.startedAt || this.deadline !== now + plan.callTimeoutMs) {
      this.rearm();
    } else if (plan.firstAlarms) {
      plan.alarms.remove(this);
      plan.alarms.append(this, now + plan.firstAlarmMs, plan.firstAlarms);
    }
    for (let i = 0; i < launcheds.length; i++) launcheds[i]!.launched(attempt, now);
    void this.#perform(attempt);
  }

  async #perform(attempt: Attempt): Promise<void> {
    try {
      let value: unknown;
      try {
        value = await this.#work(this.#input, attempt);
      } catch (cause) {
        if (!attempt.done) this.#failed(attempt, this.#faultOf(cause), this.plan.clock.now());
        return;
      }
      if (attempt.done) return;
      const now = this.plan.clock.now();
      this.#end(attempt, undefined, now);
      this.#finish(undefined, now);
      this.#resolve!(this.#asOutcome ? { ok: true, value } : value);
    } catch (cause) {
      this.#crash(cause);
    }
  }

  #faultOf(cause: unknown): Fault {
    try {
      const fault = cause instanceof FaultError ? cause.fault : this.plan.classify(cause);
      // A clock that ran out further in is the callee's, not one of ours.
      if (fault.kind) return ours.includes(fault.clock) ? { ...fault, clock: 'callee' } : fault;
    } catch {
      // A classifier that throws knows no more than one that gives nothing.
    }
    return { kind: 'unexpected', sent: 'maybe', cause };
  }

  // ---- how an attempt ends ----------------------------------------------------------------

  #failed(attempt: Attempt, fault: Fault, now: number): void {
    if (fault.sent !== 'no' && !processedNothing(fault)) this.#mayHaveActed = true;
    this.#end(attempt, fault, now);
    this.#decide(fault, now);
  }

  /** Takes an attempt off the live ones and tells the layers. */
  #end(attempt: Attempt, fault: Fault | undefined, now: number): void {
    attempt.done = true;
    if (this.live === attempt) this.live = attempt.sibling;
    else this.#unlink(attempt);
    this.#tellAfter(attempt, fault, now);
  }

  /** Tells all layers, even if one of them throws: each keeps count of what is under way. */
  #tellAfter(attempt: Attempt, fault: Fault | undefined, now: number): void {
    const { afters } = this.plan;
    let broken: { cause: unknown } | undefined;
    for (let i = 0; i < afters.length; i++) {
      try {
        afters[i]!.after(attempt, fault, now);
      } catch (cause) {
        broken = { cause };
      }
    }
    if (broken !== undefined) throw broken.cause;
  }

  #unlink(attempt: Attempt): void {
    for (let at = this.live; at !== undefined; at = at.sibling) {
      if (at.sibling === attempt) at.sibling = attempt.sibling;
    }
  }

  /** A layer would not have this attempt. Those asked before it learn that nothing came of it. */
  #refused(attempt: Attempt, fault: Fault, by: Layer, now: number): void {
    attempt.done = true;
    for (const layer of this.plan.befores) {
      if (layer === by) break;
      layer.after?.(attempt, fault, now);
    }
    // Another attempt is under way: this one would only have been a hedge.
    if (this.live !== undefined) return;
    this.#refusals++;
    // What made us retry says more than that the circuit has opened since.
    const last = this.#lastFault;
    if (fault.kind === 'circuit_open' && last) this.giveUp('circuit_open', last, now);
    else this.#decide(fault, now);
  }

  // ---- between attempts -------------------------------------------------------------------

  #decide(fault: Fault, now: number): void {
    this.#lastFault = fault;
    const { plan } = this;
    const made = Math.max(0, this.attempts + this.#refusals - 1);
    if (plan.retry === undefined) return this.giveUp('exhausted', fault, now);
    for (const layer of plan.rescues) {
      if (made < plan.retry.maxRetries && layer.rescue(this, fault, now)) return;
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
    // Another attempt is in flight: unless this fault is permanent, the answer may be its.
    if (this.live && (decision.retry || decision.reason !== 'permanent')) return;
    if (!decision.retry) return this.giveUp(decision.reason, fault, now);
    for (const layer of plan.permits) {
      if (!layer.permit(this, now)) return this.giveUp('budget', fault, now);
    }
    this.retryAfter(plan.hedge?.hurries(this, fault) ? 0 : decision.afterMs, fault, now);
  }

  /** Waits, then makes the next attempt. The deadline cannot pass meanwhile: that was asked first. */
  retryAfter(afterMs: number, fault: Fault, now: number): void {
    const { plan } = this;
    for (const layer of plan.retryings) layer.retrying(this, afterMs, fault, now);
    plan.alarms.remove(this);
    this.#timer = plan.clock.setTimer(afterMs, () => {
      this.#timer = undefined;
      this.relaunch(plan.clock.now());
    });
  }

  /** The event loop may have been held up: an attempt is not begun when its time is over. */
  relaunch(now: number): void {
    this.#safely(() => (now >= this.deadline ? this.#expire(now) : this.#launch(now)));
  }

  // ---- clocks -----------------------------------------------------------------------------

  /** Sets the alarm for whatever runs out first: the call, an attempt, or an attempt's silence. */
  rearm(): void {
    const { alarms, attemptTimeoutMs, idleTimeoutMs } = this.plan;
    let due = this.deadline;
    for (let at = this.live; at !== undefined; at = at.sibling) {
      due = Math.min(due, at.startedAt + attemptTimeoutMs, at.progressAt + idleTimeoutMs);
    }
    alarms.set(this, due);
  }

  override ring(now: number): void {
    this.#safely(() => (now >= this.deadline ? this.#expire(now) : this.#cutOffLate(now)));
  }

  #cutOffLate(now: number): void {
    const { attemptTimeoutMs, idleTimeoutMs } = this.plan;
    let at = this.live;
    while (at !== undefined && !this.settled) {
      const next = at.sibling;
      if (now >= at.startedAt + attemptTimeoutMs) this.#cutOff(at, 'attempt', now);
      else if (now >= at.progressAt + idleTimeoutMs) this.#cutOff(at, 'idle', now);
      at = next;
    }
    if (!this.settled && this.#timer === undefined) this.rearm();
  }

  /** One attempt is over time; the call may go on. */
  #cutOff(attempt: Attempt, clock: TimeoutClock, now: number): void {
    const fault: Fault = { kind: 'timeout', sent: attempt.sent, clock };
    attempt.abandon(fault);
    this.#failed(attempt, fault, now);
  }

  /** The call as a whole is over time, whatever its callee is doing. */
  #expire(now: number): void {
    this.giveUp('deadline', { kind: 'timeout', sent: 'no', clock: 'deadline' }, now);
  }

  cancel(cause: unknown): void {
    const fault: Fault = { kind: 'cancelled', sent: 'no', cause };
    this.#safely(() => this.giveUp('cancelled', fault, this.plan.clock.now()));
  }

  // ---- the way out ------------------------------------------------------------------------

  giveUp(reason: GiveUpReason, fault: Fault, now: number): void {
    if (this.settled) return;
    this.gaveUp = reason;
    for (let at = this.live; at !== undefined; at = at.sibling) {
      if (at.sent !== 'no') this.#mayHaveActed = true;
    }
    // The last fault speaks for one attempt; the answer has to speak for all of them.
    if (this.#mayHaveActed && (fault.sent === 'no' || processedNothing(fault))) {
      fault = { ...fault, sent: 'maybe' };
    }
    this.#finish(fault, now);
    this.#fail(fault);
  }

  /** What a timer or a signal starts has no caller that could catch what a layer throws. */
  #safely(step: () => void): void {
    try {
      step();
    } catch (cause) {
      this.#crash(cause);
    }
  }

  /** A layer threw. That is a mistake in the layer, but the caller gets an answer all the same. */
  #crash(cause: unknown): void {
    const fault: Fault = { kind: 'unexpected', sent: this.attempts > 0 ? 'maybe' : 'no', cause };
    try {
      if (!this.settled) this.#finish(fault, this.plan.clock.now());
    } catch {
      // It threw again; our own traces were gone before it was asked.
    }
    this.#fail(fault);
  }

  #fail(fault: Fault): void {
    if (this.#asOutcome) this.#resolve!({ ok: false, fault });
    else this.#reject!(thrownFor(fault, this.attempts));
  }

  /**
   * Leaves nothing behind: no alarm, timer, listener, place in a queue or running attempt. What is
   * ours goes first, so that a layer that throws cannot keep it here.
   */
  #finish(fault: Fault | undefined, now: number): void {
    this.settled = true;
    const { plan, options, live } = this;
    plan.alarms.remove(this);
    if (this.#timer !== undefined) plan.clock.clearTimer(this.#timer);
    if (options?.signal !== undefined) stopListening(options.signal, this);
    if (this.#entered) plan.admission?.leave(this, now);
    this.live = undefined;
    for (let at = live; at !== undefined; at = at.sibling) this.#abandon(at, fault, now);
    const { settleds } = plan;
    for (let i = 0; i < settleds.length; i++) settleds[i]!.settled(this, fault, now);
  }

  /** Ends an attempt that is still under way: the loser of a hedge, or the work of a call given up. */
  #abandon(attempt: Attempt, fault: Fault | undefined, now: number): void {
    // A caller that is in more of a hurry than the policy has left, as one that aborts: that the
    // upstream was slower than that does not speak against it.
    const left =
      fault?.clock === 'deadline' && this.deadline < this.startedAt + this.plan.callTimeoutMs;
    const why: Fault = left || !fault ? { kind: 'cancelled', sent: attempt.sent } : fault;
    attempt.abandon(why);
    this.#tellAfter(attempt, why, now);
  }
}

/** The clocks that a call has for itself; silence is silence, whoever noticed it. */
const ours: readonly unknown[] = ['deadline', 'attempt'];

/** An answer that says that the request was turned away at the door. */
function processedNothing({ kind, sent }: Fault): boolean {
  return sent === 'answered' && ['rate_limited', 'auth', 'rejected'].includes(kind);
}

const waiting = new WeakMap<AbortSignal, Set<Call>>();

/**
 * Calls under one caller's signal share one listener: a hundred calls of one request would
 * otherwise be a hundred listeners and a warning about a leak.
 */
function listenForAbort(signal: AbortSignal, call: Call): void {
  let calls = waiting.get(signal);
  if (calls === undefined) waiting.set(signal, (calls = new Set()));
  // Added once however often it is added.
  signal.addEventListener('abort', onAbort);
  calls.add(call);
}

function stopListening(signal: AbortSignal, call: Call): void {
  const calls = waiting.get(signal);
  if (calls?.delete(call) && calls.size === 0) signal.removeEventListener('abort', onAbort);
}

function onAbort(this: AbortSignal): void {
  const calls = waiting.get(this);
  if (calls === undefined) return;
  waiting.delete(this);
  this.removeEventListener('abort', onAbort);
  for (const call of calls) call.cancel(this.reason);
}
