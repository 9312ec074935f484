import type { RateLimitInfo } from '../decide/rate-limit.js';
import { type Fault, type Sent, toThrowable } from '../fault.js';
import type { Call } from './call.js';

/** The second argument of the work: the attempt that it runs in. */
export interface AttemptContext {
  /** 0 for the first attempt. */
  readonly index: number;
  /** Aborted when the attempt is abandoned. Created on first access, because most callees need none. */
  readonly signal: AbortSignal;
  /** Deadline of the whole call on the pipeline's clock; `Infinity` without one. */
  readonly deadline: number;
  readonly correlationId: string;
  /**
   * Whether bytes may have been sent, if the attempt is cut off now. A callee that knows better than
   * `maybe` sets it: `no` while it connects, `maybe` right before it writes.
   */
  sent: Sent;
  /** Restarts the idle timeout: data arrived. */
  progress(): void;
  /** Reports the rate limits of a response. An exhausted limit holds back the next request. */
  reportLimits(limits: readonly RateLimitInfo[]): void;
}

export class Attempt implements AttemptContext {
  readonly call: Call;
  readonly index: number;
  /** `Infinity` while the attempt waits for reasons of its own: see `untimed`. */
  startedAt: number;
  sent: Sent = 'maybe';
  progressAt: number;
  /** Succeeded, failed or abandoned: later results are ignored. */
  done = false;
  /** The next in-flight attempt of the call, when hedging. */
  sibling: Attempt | undefined = undefined;
  /** Number of the circuit opening that this attempt probes; 0 for an ordinary attempt. */
  probeOf = 0;
  #controller: AbortController | undefined;
  #abandonedBy: Fault | undefined;

  constructor(call: Call, index: number, startedAt: number) {
    this.call = call;
    this.index = index;
    this.startedAt = startedAt;
    this.progressAt = startedAt;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // A callee may read the signal after the attempt was abandoned.
      if (this.#abandonedBy) this.#controller.abort(toThrowable(this.#abandonedBy));
    }
    return this.#controller.signal;
  }

  get deadline(): number {
    return this.call.deadline;
  }

  get correlationId(): string {
    return this.call.correlationId;
  }

  progress(): void {
    this.progressAt = Math.max(this.startedAt, this.call.plan.clock.now());
  }

  reportLimits(limits: readonly RateLimitInfo[]): void {
    const { plan, route } = this.call;
    plan.gate?.report(limits, plan.clock.wallNow(), route);
  }

  /** Ends an attempt that is in flight. The signal is aborted only if the callee has read it. */
  abandon(why: Fault): void {
    this.done = true;
    this.#abandonedBy = why;
    this.#controller?.abort(toThrowable(why));
  }
}
