import type { RetryPolicy } from '../decide/retry-policy.js';
import type { Effect, Fault, Outcome } from '../fault.js';
import type { Attempt } from './attempt.js';
import type { Call, CallOptions } from './call.js';
import type { Plan } from './plan.js';
import type { Wraps } from './wrapping.js';
import type { HedgeGate } from '../layers/hedge.js';
import type { LimitGate } from '../layers/limit-gate.js';
import type { Health } from '../upstream/health.js';
import type { EventBody } from '../events.js';

export type AttemptFn = (input: unknown, attempt: Attempt) => unknown;
export type CallFn = (
  input: unknown,
  options: CallOptions | undefined,
) => Promise<Outcome<unknown>>;

/** A guarded function before its types are put back. */
export interface UntypedResilientFunction {
  (input: unknown, options: CallOptions | undefined): Promise<unknown>;
  readonly outcome: CallFn;
}

/** Decides who may begin. Who has entered or waits in its queue says so when it leaves. */
export interface Admission {
  /** Nothing: go on. A fault: refused. `queued`: it will relaunch the call when its turn comes. */
  enter(call: Call, now: number): Fault | 'queued' | undefined;
  leave(call: Call, now: number): void;
}

/** What a layer may set in the loop itself, where nested functions would cost too much. */
export interface LoopSettings {
  retry?: RetryPolicy;
  callTimeoutMs?: number;
  attemptTimeoutMs?: number;
  idleTimeoutMs?: number;
  hedge?: HedgeGate;
  health?: Health;
  gate?: LimitGate;
  admission?: Admission;
}

/**
 * One concern of a guarded call. A layer says where it belongs by the hooks it has; a hook that is
 * absent costs nothing. Layers with the same hook run in the order in which they were composed.
 */
export interface Layer {
  readonly name: string;
  readonly loop?: LoopSettings;
  /** Before each attempt; a fault refuses it. */
  before?(attempt: Attempt, now: number): Fault | undefined;
  /** An attempt has begun; its work starts next. */
  launched?(attempt: Attempt, now: number): void;
  /** After each attempt that began: without a fault it succeeded. */
  after?(attempt: Attempt, fault: Fault | undefined, now: number): void;
  /** Takes a failed call over, to mend what made it fail; it then retries or gives up itself. */
  rescue?(call: Call, fault: Fault, now: number): boolean;
  /** May this retry be made? Asked before the wait. */
  permit?(call: Call, now: number): boolean;
  /** A retry has been decided; its wait begins. */
  retrying?(call: Call, afterMs: number, fault: Fault, now: number): void;
  /** Another layer has something to tell: a circuit opened, a hedge went out. */
  told?(call: Call, event: EventBody, now: number): void;
  /** Once for every call, whatever became of it. */
  settled?(call: Call, fault: Fault | undefined, now: number): void;
  /** Set by `wrapping`, for the few layers that hooks are not enough for. */
  readonly wraps?: Wraps;
  readonly wrapAll?: (plan: Plan, work: AttemptFn) => UntypedResilientFunction;
  /** Asked when composed; throws if the layer has no business with this effect or these layers. */
  accepts?(effect: Effect, layers: readonly Layer[]): void;
}
