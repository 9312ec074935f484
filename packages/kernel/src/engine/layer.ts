import type { Classify } from '../classify.js';
import type { RetryPolicy } from '../decide/policy.js';
import { checkOrder, refuse } from '../decide/validate.js';
import type { EventBody } from '../events.js';
import type { Effect, Fault, Outcome } from '../fault.js';
import type { Health } from '../layers/health.js';
import type { HedgeGate } from '../layers/hedge.js';
import type { LimitGate } from '../layers/limit-gate.js';
import { Alarm, alarmsOf, type AlarmList, type Alarms } from '../time/alarms.js';
import { systemClock, type Clock } from '../time/clock.js';
import type { Attempt } from './attempt.js';
import type { Call, CallOptions } from './call.js';
import type { PipelineOptions, Wraps } from './pipeline.js';

export type AttemptFn = (input: unknown, attempt: Attempt) => unknown;
export type CallFn = (
  input: unknown,
  options: CallOptions | undefined,
) => Promise<Outcome<unknown>>;

/** A resilient function before its types are restored. */
export interface UntypedResilientFunction {
  (input: unknown, options: CallOptions | undefined): Promise<unknown>;
  readonly outcome: CallFn;
}

/** Admission control for calls. Every call that entered or was queued leaves when it settles. */
export interface Admission {
  /** Undefined admits the call; a fault rejects it; `queued` promises a later `call.startAttempt()`. */
  enter(call: Call, now: number): Fault | 'queued' | undefined;
  leave(call: Call, now: number): void;
}

/** Settings that the call loop reads directly, because a nested function per setting is too slow. */
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
 * One concern of a resilient call, such as retries or a circuit breaker. Absent hooks cost nothing;
 * layers with the same hook run in the order in which they were composed.
 */
export interface Layer {
  readonly name: string;
  readonly loop?: LoopSettings;
  /** Runs before each attempt; returning a fault rejects the attempt. */
  beforeAttempt?(attempt: Attempt, now: number): Fault | undefined;
  /** Runs when an attempt has started, before its work does. */
  onAttempt?(attempt: Attempt, now: number): void;
  /** Runs after each attempt that started. Without a fault the attempt succeeded. */
  afterAttempt?(attempt: Attempt, fault: Fault | undefined, now: number): void;
  /** Returning true takes the failed call over: the layer then calls `retryAfter` or `giveUp`. */
  recover?(call: Call, fault: Fault, now: number): boolean;
  /** Returning false refuses the retry. Runs before the backoff. */
  allowRetry?(call: Call, now: number): boolean;
  /** Runs when a retry has been scheduled. */
  onRetry?(call: Call, afterMs: number, fault: Fault, now: number): void;
  /** Receives what other layers emit: a circuit opened, a hedge was sent. */
  onEvent?(call: Call, event: EventBody, now: number): void;
  /** Runs once per call, whatever its outcome. */
  onSettled?(call: Call, fault: Fault | undefined, now: number): void;
  /** Set by `wrapping`, for layers that need more than hooks. */
  readonly wraps?: Wraps;
  readonly wrapAll?: (plan: Plan, work: AttemptFn) => UntypedResilientFunction;
  /** Runs at composition; throws if the layer does not support this effect or these layers. */
  check?(effect: Effect, layers: readonly Layer[]): void;
}

type LayerWith<Hook extends keyof Layer> = Layer & Required<Pick<Layer, Hook>>;

/** A composition, indexed by hook once, so that a call only iterates over the hooks that exist. */
export class Plan {
  readonly clock: Clock;
  readonly random: () => number;
  readonly classify: Classify | undefined;
  readonly effect: Effect;
  readonly name: string | undefined;
  readonly retryUnsent: boolean | undefined;

  readonly layers: readonly Layer[];
  readonly beforeAttempt: readonly LayerWith<'beforeAttempt'>[];
  readonly onAttempt: readonly LayerWith<'onAttempt'>[];
  readonly afterAttempt: readonly LayerWith<'afterAttempt'>[];
  readonly recover: readonly LayerWith<'recover'>[];
  readonly allowRetry: readonly LayerWith<'allowRetry'>[];
  readonly onRetry: readonly LayerWith<'onRetry'>[];
  readonly onEvent: readonly LayerWith<'onEvent'>[];
  readonly onSettled: readonly LayerWith<'onSettled'>[];

  readonly retry: RetryPolicy | undefined;
  readonly hedge: HedgeGate | undefined;
  readonly health: Health | undefined;
  readonly gate: LimitGate | undefined;
  readonly admission: Admission | undefined;
  readonly callTimeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly idleTimeoutMs: number;

  readonly alarms: Alarms;
  /** The first alarm of a call without a deadline of its own, and the list that it is appended to. */
  readonly firstAlarmMs: number;
  readonly firstAlarms: AlarmList | undefined;

  // Assigns every field, in one order: all plans have the same shape, which keeps calls fast.
  constructor(layers: readonly Layer[], options: PipelineOptions | Plan) {
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.classify = options.classify;
    this.effect = options.effect;
    this.name = options.name;
    this.retryUnsent = options.retryUnsent;

    const withHook = <Hook extends keyof Layer>(hook: Hook): LayerWith<Hook>[] =>
      layers.filter((layer): layer is LayerWith<Hook> => !!layer[hook]);
    this.layers = layers;
    this.beforeAttempt = withHook('beforeAttempt');
    this.onAttempt = withHook('onAttempt');
    this.afterAttempt = withHook('afterAttempt');
    this.recover = withHook('recover');
    this.allowRetry = withHook('allowRetry');
    this.onRetry = withHook('onRetry');
    this.onEvent = withHook('onEvent');
    this.onSettled = withHook('onSettled');

    const settings = mergeSettings(layers);
    const {
      callTimeoutMs = Infinity,
      attemptTimeoutMs = Infinity,
      idleTimeoutMs = Infinity,
    } = settings;
    checkOrder('attemptTimeout', attemptTimeoutMs, 'deadline', callTimeoutMs);
    checkOrder('idle', idleTimeoutMs, 'deadline', callTimeoutMs);
    this.retry = settings.retry;
    this.hedge = settings.hedge;
    this.health = settings.health;
    this.gate = settings.gate;
    this.admission = settings.admission;
    this.callTimeoutMs = callTimeoutMs;
    this.attemptTimeoutMs = attemptTimeoutMs;
    this.idleTimeoutMs = idleTimeoutMs;
    this.alarms = alarmsOf(this.clock);
    this.firstAlarmMs = Math.min(callTimeoutMs, attemptTimeoutMs, idleTimeoutMs);
    this.firstAlarms = this.firstAlarmMs < Infinity ? new Alarm() : undefined;
  }
}

/** The loop settings of all layers. Each setting can be set by one layer only. */
function mergeSettings(layers: readonly Layer[]): LoopSettings {
  const merged: Record<string, unknown> = {};
  for (const { loop } of layers) {
    for (const setting in loop) {
      if (setting in merged) refuse('layers', `must have one ${setting}`);
      merged[setting] = loop[setting as keyof LoopSettings];
    }
  }
  return merged;
}
