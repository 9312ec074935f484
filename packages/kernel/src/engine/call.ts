import { shouldRetry, type GiveUpReason } from '../decide/should-retry.js';
import { checkNumber } from '../decide/validate.js';
import type { EventBody } from '../events.js';
import { FaultError, thrownFor } from '../fault-error.js';
import type { Fault, Sent, TimeoutClock } from '../fault.js';
import { Alarm } from '../time/alarms.js';
import type { Timer } from '../time/clock.js';
import { listenForAbort, stopListening } from './aborts.js';
import { Attempt } from './attempt.js';
import { nextCorrelationId } from './correlation.js';
import type { AttemptFn, Layer, Waiting } from './layer.js';
import type { Plan } from './plan.js';

/** What one call may bring along. */
export interface CallOptions {
  /** The caller's signal. Aborting settles the call at once, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** When the whole call must be over, on the pipeline's clock. The earliest deadline holds. */
  readonly deadline?: number;
  /** The same, from now on. */
  readonly timeoutMs?: number;
  /** Stands in every event of the call. Made up where it is not given. */
  readonly correlationId?: string;
  /** Calls of one route are expected to take about the same time. */
  readonly route?: string;
}

/**
 * One guarded call, from its start to the one moment when it settles: attempts, waits between
 * them, and everything that can end it early. This is the state machine; what to do is decided in
 * `decide/`, who may do it in the layers.
 */
export class Call extends Alarm {
  readonly plan: Plan;
  readonly work: AttemptFn;
  readonly input: unknown;
  readonly options: CallOptions | undefined;
  readonly startedAt: number;
  deadline: number;
  /** Attempts begun, hedges included. */
  attempts = 0;
  settled = false;
  /** Why it failed, once it has. */
  gaveUp: GiveUpReason | undefined = undefined;
  private readonly asOutcome: boolean;
  private resolve!: (value: unknown) => void;
  private reject!: (reason: unknown) => void;
  /** The attempts that are under way: one, or more when hedging. */
  private live: Attempt | undefined = undefined;
  private refusals = 0;
  private entered = 0;
  private queued: Waiting | undefined = undefined;
  private timer: Timer = undefined;
  private hedgeTimer: Timer = undefined;
  private lastFault: Fault | undefined = undefined;
  private refreshing: AbortController | undefined = undefined;
  private id: string | undefined = undefined;

  constructor(
    plan: Plan,
    work: AttemptFn,
    input: unknown,
    options: CallOptions | undefined,
    asOutcome: boolean,
  ) {
    super();
    const now = plan.clock.now();
    this.asOutcome = asOutcome;
    this.plan = plan;
    this.work = work;
    this.input = input;
    this.options = options;
    this.startedAt = now;
    this.deadline = now + plan.callTimeoutMs;
  }

  get correlationId(): string {
    return (this.id ??= this.options?.correlationId ?? nextCorrelationId());
  }

  get route(): string | undefined {
    return this.options?.route;
  }

  /** An event for whoever listens. Callers look at `watched` first: building one is not free. */
  emit(at: number, body: EventBody): void {
    this.plan.emit(this, at, body);
  }

  get watched(): boolean {
    return this.plan.listeners.length > 0;
  }

  // ---- the way in -------------------------------------------------------------------------

  /** A promise that settles when the call does, even if its callee never will. */
  run(): Promise<unknown> {
    const promise = new Promise<unknown>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.begin();
    return promise;
  }

  private begin(): void {
    const { options, startedAt: now, plan } = this;
    if (options !== undefined && !this.accept(options, now)) return;
    if (plan.enters.length > 0) this.enter(now);
    else this.launch(now);
  }

  private accept(options: CallOptions, now: number): boolean {
    const { signal, deadline, timeoutMs } = options;
    if (timeoutMs !== undefined) {
      checkNumber('timeoutMs', timeoutMs, { min: 0 });
      this.deadline = Math.min(this.deadline, now + timeoutMs);
    }
    if (deadline !== undefined) {
      if (Number.isNaN(deadline)) checkNumber('deadline', deadline, {});
      this.deadline = Math.min(this.deadline, deadline);
    }
    if (signal !== undefined) {
      if (signal.aborted) {
        this.cancel(signal.reason);
        return false;
      }
      listenForAbort(signal, this);
    }
    if (this.deadline > now) return true;
    this.expire(now);
    return false;
  }

  /** Passes the layers that admit calls, as far as they let it. Comes back after a queue. */
  enter(now: number): void {
    const { enters } = this.plan;
    while (this.entered < enters.length) {
      const answer = enters[this.entered]!.enter(this, now);
      if (answer !== undefined && 'kind' in answer) return this.giveUp('permanent', answer, now);
      this.entered++;
      if (answer !== undefined) {
        this.queued = answer;
        return this.rearm(now);
      }
    }
    this.launch(now);
  }

  /** A place in the queue has come up. */
  admit(now: number): void {
    this.queued = undefined;
    this.enter(now);
  }

  private launch(now: number): void {
    const { plan } = this;
    const { befores } = plan;
    const attempt = new Attempt(this, this.attempts, now);
    for (let i = 0; i < befores.length; i++) {
      const fault = befores[i]!.before(attempt, now);
      if (fault !== undefined) return this.refused(attempt, fault, befores[i]!, now);
    }
    this.attempts++;
    attempt.sibling = this.live;
    this.live = attempt;
    if (this.attempts === 1 && this.options === undefined) {
      if (plan.firstAlarms !== undefined) {
        plan.alarms.append(this, now + plan.firstAlarmMs, plan.firstAlarms);
      }
    } else {
      this.rearm(now);
    }
    if (plan.hedge !== undefined) this.armHedge(now);
    void this.perform(attempt);
  }

  private async perform(attempt: Attempt): Promise<void> {
    let value: unknown;
    try {
      value = await this.work(this.input, attempt);
    } catch (cause) {
      if (!attempt.done) this.failed(attempt, this.classify(cause), this.plan.clock.now());
      return;
    }
    if (!attempt.done) this.succeeded(attempt, value, this.plan.clock.now());
  }

  private classify(cause: unknown): Fault {
    if (cause instanceof FaultError) return cause.fault;
    try {
      return this.plan.classify(cause);
    } catch {
      return { kind: 'unexpected', sent: 'maybe', cause };
    }
  }

  // ---- how an attempt ends ----------------------------------------------------------------

  private succeeded(attempt: Attempt, value: unknown, now: number): void {
    this.end(attempt, undefined, now);
    this.finish(undefined, now);
    this.resolve(this.asOutcome ? { ok: true, value } : value);
  }

  private failed(attempt: Attempt, fault: Fault, now: number): void {
    this.end(attempt, fault, now);
    this.decide(fault, now);
  }

  /** Takes an attempt off the live ones and tells the layers. */
  private end(attempt: Attempt, fault: Fault | undefined, now: number): void {
    attempt.done = true;
    if (this.live === attempt) this.live = attempt.sibling;
    else this.unlink(attempt);
    const { afters } = this.plan;
    for (let i = 0; i < afters.length; i++) afters[i]!.after(attempt, fault, now);
    if (this.plan.listeners.length > 0) {
      this.emit(now, {
        type: 'attempt_end',
        attempt: attempt.index,
        elapsedMs: now - attempt.startedAt,
        ...(fault === undefined ? {} : { fault }),
      });
    }
  }

  private unlink(attempt: Attempt): void {
    for (let at = this.live; at !== undefined; at = at.sibling) {
      if (at.sibling === attempt) at.sibling = attempt.sibling;
    }
  }

  /** A layer would not have this attempt. Those asked before it are told that nothing came of it. */
  private refused(attempt: Attempt, fault: Fault, by: Layer, now: number): void {
    attempt.done = true;
    for (const layer of this.plan.layers) {
      if (layer === by) break;
      if (layer.before !== undefined) layer.after?.(attempt, fault, now);
    }
    // Another attempt is still under way: this one would only have been a hedge.
    if (this.live !== undefined) return;
    this.refusals++;
    // What made us retry says more than that the circuit has opened since.
    if (fault.kind === 'circuit_open' && this.lastFault !== undefined) {
      return this.giveUp('circuit_open', this.lastFault, now);
    }
    this.decide(fault, now);
  }

  // ---- between attempts -------------------------------------------------------------------

  private decide(fault: Fault, now: number): void {
    this.lastFault = fault;
    const { plan } = this;
    const { retry } = plan;
    if (retry === undefined) return this.giveUp('exhausted', fault, now);
    const made = Math.max(0, this.attempts + this.refusals - 1);
    if (fault.kind === 'auth' && this.mayRefresh(fault, made, retry.maxRetries)) {
      return void this.refresh(fault);
    }
    const decision = this.ask(fault, made, now);
    if (!decision.retry && (this.live === undefined || decision.reason === 'permanent')) {
      return this.giveUp(decision.reason, fault, now);
    }
    // Another attempt is under way: unless this fault was the last word, the answer may be its.
    if (!decision.retry || this.live !== undefined) return;
    for (const layer of plan.permits) {
      if (!layer.permit(this, now)) return this.giveUp('budget', fault, now);
    }
    const afterMs = this.mayHurry(fault) ? 0 : decision.afterMs;
    if (this.watched) {
      this.emit(now, { type: 'retry_attempt', attempt: this.attempts, afterMs, fault });
    }
    this.wait(afterMs);
  }

  private ask(fault: Fault, made: number, now: number): ReturnType<typeof shouldRetry> {
    const { plan } = this;
    const wallNow = plan.clock.wallNow();
    const observedMedianMs = plan.health?.medianFor(this.route);
    return shouldRetry(fault, made, plan.retry!, {
      effect: plan.effect,
      retryUnsent: plan.retryUnsent,
      random: plan.random,
      now: wallNow,
      deadline: wallNow + (this.deadline - now),
      ...(observedMedianMs === undefined ? {} : { observedMedianMs }),
    });
  }

  /** With hedging on, the first fault fires the second attempt at once, unless told to wait. */
  private mayHurry(fault: Fault): boolean {
    return (
      this.plan.hedge !== undefined &&
      this.attempts === 1 &&
      fault.kind !== 'rate_limited' &&
      fault.retryAfterMs === undefined
    );
  }

  private wait(afterMs: number): void {
    const { plan } = this;
    plan.alarms.remove(this);
    this.timer = plan.clock.setTimer(afterMs, () => {
      this.timer = undefined;
      this.relaunch(plan.clock.now());
    });
  }

  private mayRefresh(fault: Fault, made: number, maxRetries: number): boolean {
    return (
      this.plan.refreshAuth !== undefined &&
      this.refreshing === undefined &&
      !fault.final &&
      made < maxRetries &&
      this.live === undefined
    );
  }

  /** A credential that was not accepted is refreshed once; then the call is tried once more. */
  private async refresh(fault: Fault): Promise<void> {
    const { plan } = this;
    this.refreshing = new AbortController();
    this.rearm(plan.clock.now());
    let renewed = true;
    try {
      renewed = (await plan.refreshAuth!(this.refreshing.signal)) !== false;
    } catch {
      renewed = false;
    }
    if (this.settled) return;
    const now = plan.clock.now();
    if (!renewed) return this.giveUp('permanent', fault, now);
    if (this.watched) {
      this.emit(now, { type: 'retry_attempt', attempt: this.attempts, afterMs: 0, fault });
    }
    this.relaunch(now);
  }

  /** The event loop may have been held up: an attempt is not begun when its time is over. */
  private relaunch(now: number): void {
    if (now >= this.deadline) this.expire(now);
    else this.launch(now);
  }

  private armHedge(now: number): void {
    const { plan } = this;
    if (this.attempts > (plan.retry?.maxRetries ?? 0)) return;
    const afterMs = plan.hedge!.delayFor(this, plan.health);
    if (afterMs === undefined || now + afterMs >= this.deadline) return;
    if (this.hedgeTimer !== undefined) plan.clock.clearTimer(this.hedgeTimer);
    this.hedgeTimer = plan.clock.setTimer(afterMs, () => {
      this.hedgeTimer = undefined;
      if (this.live === undefined || !plan.hedge!.take()) return;
      const at = plan.clock.now();
      if (this.watched) this.emit(at, { type: 'hedge_attempt', attempt: this.attempts, afterMs });
      this.relaunch(at);
    });
  }

  // ---- clocks -----------------------------------------------------------------------------

  /** Sets the alarm for whatever runs out first: the call, an attempt, or an attempt's silence. */
  private rearm(now: number): void {
    const { plan } = this;
    plan.alarms.remove(this);
    let due = this.deadline;
    for (let at = this.live; at !== undefined; at = at.sibling) {
      due = Math.min(due, at.startedAt + plan.attemptTimeoutMs, at.progressAt + plan.idleTimeoutMs);
    }
    if (due < Number.POSITIVE_INFINITY) plan.alarms.insert(this, Math.max(due, now));
  }

  ring(now: number): void {
    if (now >= this.deadline) return this.expire(now);
    const { plan } = this;
    let at = this.live;
    while (at !== undefined) {
      const next = at.sibling;
      if (now >= at.startedAt + plan.attemptTimeoutMs) this.cutOff(at, 'attempt', now);
      else if (now >= at.progressAt + plan.idleTimeoutMs) this.cutOff(at, 'idle', now);
      if (this.settled) return;
      at = next;
    }
    if (this.timer === undefined) this.rearm(now);
  }

  /** One attempt is over time; the call may go on. */
  private cutOff(attempt: Attempt, clock: TimeoutClock, now: number): void {
    const fault: Fault = { kind: 'timeout', sent: attempt.sent, clock };
    attempt.abandon(new FaultError(fault, this.attempts));
    if (this.watched) {
      this.emit(now, { type: 'timeout_abort', clock, elapsedMs: now - attempt.startedAt });
    }
    this.failed(attempt, fault, now);
  }

  /** The call as a whole is over time, whatever its callee is doing. */
  private expire(now: number): void {
    const fault: Fault = { kind: 'timeout', sent: this.sentByNow(), clock: 'deadline' };
    if (this.watched) {
      this.emit(now, { type: 'timeout_abort', clock: 'deadline', elapsedMs: now - this.startedAt });
    }
    this.giveUp('deadline', fault, now);
  }

  cancel(reason: unknown): void {
    const now = this.plan.clock.now();
    this.giveUp('cancelled', { kind: 'cancelled', sent: this.sentByNow(), cause: reason }, now);
  }

  private sentByNow(): Sent {
    let sent: Sent = 'no';
    for (let at = this.live; at !== undefined; at = at.sibling) {
      if (at.sent !== 'no') sent = at.sent;
    }
    return sent;
  }

  // ---- the way out ------------------------------------------------------------------------

  private giveUp(reason: GiveUpReason, fault: Fault, now: number): void {
    if (this.settled) return;
    this.gaveUp = reason;
    if (this.watched && reason !== 'permanent' && reason !== 'cancelled') {
      this.emit(now, { type: 'retry_give_up', attempts: this.attempts, reason, fault });
    }
    this.finish(fault, now);
    if (this.asOutcome) this.resolve({ ok: false, fault });
    else this.reject(thrownFor(fault, this.attempts));
  }

  /** Leaves nothing behind: no alarm, timer, listener, place in a queue or running attempt. */
  private finish(fault: Fault | undefined, now: number): void {
    this.settled = true;
    const { plan } = this;
    plan.alarms.remove(this);
    if (this.timer !== undefined) plan.clock.clearTimer(this.timer);
    if (this.hedgeTimer !== undefined) plan.clock.clearTimer(this.hedgeTimer);
    if (this.live !== undefined) this.abandonLive(fault, now);
    this.refreshing?.abort(fault?.cause);
    if (this.entered > 0) this.leave(now);
    const signal = this.options?.signal;
    if (signal !== undefined) stopListening(signal, this);
    const { settleds } = plan;
    for (let i = 0; i < settleds.length; i++) settleds[i]!.settled(this, fault, now);
    if (plan.listeners.length > 0) {
      this.emit(now, {
        type: 'call_end',
        attempts: this.attempts,
        elapsedMs: now - this.startedAt,
        ...(fault === undefined ? {} : { fault }),
      });
    }
  }

  private abandonLive(fault: Fault | undefined, now: number): void {
    const why: Fault = fault ?? { kind: 'cancelled', sent: 'maybe' };
    const reason = why.kind === 'cancelled' && fault ? why.cause : new FaultError(why, this.attempts);
    for (let at = this.live; at !== undefined; at = at.sibling) {
      at.abandon(reason);
      for (const layer of this.plan.afters) layer.after(at, why, now);
    }
    this.live = undefined;
  }

  private leave(now: number): void {
    this.queued?.withdraw();
    const passed = this.plan.enters.slice(0, this.queued === undefined ? this.entered : this.entered - 1);
    for (const layer of passed) layer.leave?.(this, now);
  }
}
