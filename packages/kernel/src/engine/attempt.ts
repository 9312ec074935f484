import type { RateLimitInfo } from '../decide/rate-limit.js';
import { type Fault, type Sent, thrownFor } from '../fault.js';
import type { Call } from './call.js';

/** What the callee is given beside its input. */
export interface AttemptContext {
  /** 0 for the first attempt. */
  readonly index: number;
  /** Aborted when this attempt has lost its purpose. Made when first read: reading it costs. */
  readonly signal: AbortSignal;
  /** When the call as a whole ends, on the pipeline's clock (`Infinity` without a deadline). */
  readonly deadline: number;
  readonly correlationId: string;
  /**
   * Whether bytes may have left, should the attempt be cut off now. A callee that knows better than
   * `maybe` sets it: `no` while it connects, `maybe` again right before it writes.
   */
  sent: Sent;
  /** Something arrived: the idle clock starts again. */
  progress(): void;
  /** What a response said about its limits. An exhausted one holds the next request back. */
  reportLimits(limits: readonly RateLimitInfo[]): void;
}

export class Attempt implements AttemptContext {
  readonly call: Call;
  readonly index: number;
  readonly startedAt: number;
  sent: Sent = 'maybe';
  progressAt: number;
  /** Answered, failed or abandoned: whatever still comes is ignored. */
  done = false;
  /** The next attempt that is under way, when hedging. */
  sibling: Attempt | undefined = undefined;
  /** Which opening of a circuit this attempt probes; 0 for an ordinary one. */
  probeOf = 0;
  #controller: AbortController | undefined = undefined;
  #endedBy: Fault | undefined = undefined;

  constructor(call: Call, index: number, startedAt: number) {
    this.call = call;
    this.index = index;
    this.startedAt = startedAt;
    this.progressAt = startedAt;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // A callee may read it late, when nobody waits for this attempt any more.
      if (this.#endedBy !== undefined) this.#controller.abort(thrownFor(this.#endedBy));
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
    this.progressAt = this.call.plan.clock.now();
  }

  reportLimits(limits: readonly RateLimitInfo[]): void {
    const { plan, route } = this.call;
    plan.gate?.report(limits, plan.clock.wallNow(), route);
  }

  /** Ends an attempt that did not end by itself. Its signal is only aborted if somebody read it. */
  abandon(why: Fault): void {
    this.done = true;
    this.#endedBy = why;
    this.#controller?.abort(thrownFor(why));
  }
}
