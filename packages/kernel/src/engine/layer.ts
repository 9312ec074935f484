import type { RetryPolicy } from '../decide/policy.js';
import type { Effect, Fault, Outcome } from '../fault.js';
import type { Attempt } from './attempt.js';
import type { Call, CallOptions } from './call.js';
import type { Wraps } from './pipeline.js';
import type { HedgeGate } from '../layers/hedge.js';
import type { LimitGate } from '../layers/limit-gate.js';
import type { Health } from '../layers/health.js';
import type { EventBody } from '../events.js';
import type { Classify } from '../classify.js';
import { Alarm, alarmsOf, type AlarmList, type Alarms } from '../time/alarms.js';
import type { Clock } from '../time/clock.js';
import { checkOrder, refuse } from '../decide/validate.js';

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

interface PlanOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly classify: Classify;
  readonly effect: Effect;
  readonly name: string | undefined;
  readonly retryUnsent: boolean | undefined;
}

type Having<K extends keyof Layer> = Layer & Required<Pick<Layer, K>>;

/** A composition, sorted by hook once, so that a call only walks over what is there. */
export class Plan implements PlanOptions {
  readonly clock!: Clock;
  readonly random!: () => number;
  readonly classify!: Classify;
  readonly effect!: Effect;
  readonly name!: string | undefined;
  readonly retryUnsent!: boolean | undefined;

  readonly layers: readonly Layer[];
  readonly befores: readonly Having<'before'>[];
  readonly afters: readonly Having<'after'>[];
  readonly launcheds: readonly Having<'launched'>[];
  readonly rescues: readonly Having<'rescue'>[];
  readonly permits: readonly Having<'permit'>[];
  readonly retryings: readonly Having<'retrying'>[];
  readonly tolds: readonly Having<'told'>[];
  readonly settleds: readonly Having<'settled'>[];

  readonly retry: RetryPolicy | undefined;
  readonly hedge: HedgeGate | undefined;
  readonly health: Health | undefined;
  readonly gate: LimitGate | undefined;
  readonly admission: Admission | undefined;
  readonly callTimeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly idleTimeoutMs: number;

  readonly alarms: Alarms;
  /** The first alarm of a call that brings no deadline of its own, and the list it goes to. */
  readonly firstAlarmMs: number;
  readonly firstAlarms: AlarmList | undefined;

  constructor(layers: readonly Layer[], options: PlanOptions) {
    Object.assign(this, options);

    this.layers = layers;
    this.befores = having(layers, 'before');
    this.afters = having(layers, 'after');
    this.launcheds = having(layers, 'launched');
    this.rescues = having(layers, 'rescue');
    this.permits = having(layers, 'permit');
    this.retryings = having(layers, 'retrying');
    this.tolds = having(layers, 'told');
    this.settleds = having(layers, 'settled');

    this.retry = only(layers, 'retry');
    this.hedge = only(layers, 'hedge');
    this.health = only(layers, 'health');
    this.gate = only(layers, 'gate');
    this.admission = only(layers, 'admission');
    this.callTimeoutMs = only(layers, 'callTimeoutMs') ?? Infinity;
    this.attemptTimeoutMs = only(layers, 'attemptTimeoutMs') ?? Infinity;
    this.idleTimeoutMs = only(layers, 'idleTimeoutMs') ?? Infinity;

    checkOrder('attemptTimeout', this.attemptTimeoutMs, 'deadline', this.callTimeoutMs);
    checkOrder('idle', this.idleTimeoutMs, 'deadline', this.callTimeoutMs);
    this.alarms = alarmsOf(this.clock);
    this.firstAlarmMs = Math.min(this.callTimeoutMs, this.attemptTimeoutMs, this.idleTimeoutMs);
    this.firstAlarms = this.firstAlarmMs < Infinity ? new Alarm() : undefined;
  }
}

function having<K extends keyof Layer>(layers: readonly Layer[], hook: K): Having<K>[] {
  return layers.filter((layer): layer is Having<K> => layer[hook] !== undefined);
}

/** A setting of the loop, of which there can be one. */
function only<K extends keyof LoopSettings>(
  layers: readonly Layer[],
  setting: K,
): LoopSettings[K] | undefined {
  const found = layers.filter((layer) => layer.loop?.[setting] !== undefined);
  if (found.length > 1)
    refuse(
      'layers',
      `must have one ${setting}`,
      found.map(({ name }) => name),
    );
  return found[0]?.loop?.[setting];
}
