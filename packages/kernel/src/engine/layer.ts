import type { Policy, RetryPolicy } from '../decide/policy.js';
import type { Effect, Fault, Outcome } from '../fault.js';
import type { Attempt } from './attempt.js';
import type { Call, CallOptions } from './call.js';
import type { Plan } from './plan.js';
import type { HedgeGate } from '../layers/hedge.js';
import type { LimitGate } from '../layers/limit-gate.js';
import type { Health } from '../upstream/health.js';
import type { Listener } from '../events.js';

/** A place in a queue that a call can give up. */
export interface Waiting {
  withdraw(): void;
}

export type AttemptFn = (input: unknown, attempt: Attempt) => unknown;
export type CallFn = (input: unknown, options: CallOptions | undefined) => Promise<Outcome<unknown>>;

/** What a layer may set in the loop itself, where nested functions would cost too much. */
export interface LoopSettings {
  retry?: RetryPolicy;
  callTimeoutMs?: Policy['callTimeoutMs'];
  attemptTimeoutMs?: Policy['attemptTimeoutMs'];
  idleTimeoutMs?: Policy['idleTimeoutMs'];
  hedge?: HedgeGate;
  health?: Health;
  gate?: LimitGate;
  listener?: Listener;
}

/**
 * One concern of a guarded call. A layer says where it belongs by the hooks it has; a hook that is
 * absent costs nothing. Layers with the same hook run in the order in which they were composed.
 *
 * `before`/`after` surround every attempt, `enter`/`leave` the call as a whole.
 */
export interface Layer {
  readonly name: string;
  readonly loop?: LoopSettings;
  /** Before the first attempt: nothing to go on, a fault to refuse, a place in a queue to wait. */
  enter?(call: Call, now: number): Fault | Waiting | undefined;
  /** Once for every call that entered. */
  leave?(call: Call, now: number): void;
  /** Before each attempt; a fault refuses it. */
  before?(attempt: Attempt, now: number): Fault | undefined;
  /** After each attempt that began: without a fault it succeeded. */
  after?(attempt: Attempt, fault: Fault | undefined, now: number): void;
  /** May this retry be made? Asked before the wait. */
  permit?(call: Call, now: number): boolean;
  /** Once for every call, whatever became of it. */
  settled?(call: Call, fault: Fault | undefined, now: number): void;
  /** Surrounds the whole call, where an answer can come from elsewhere. One promise a layer. */
  wrapCall?(next: CallFn, plan: Plan): CallFn;
  /** Surrounds the callee itself. One promise a layer. */
  wrapAttempt?(next: AttemptFn): AttemptFn;
  /** Said when composed; throws if the layer has no business with this effect. */
  accepts?(effect: Effect): void;
}
