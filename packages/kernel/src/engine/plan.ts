import type { RetryPolicy } from '../decide/retry-policy.js';
import type { Effect } from '../fault.js';
import type { Classify } from '../classify.js';
import type { HedgeGate } from '../layers/hedge.js';
import type { LimitGate } from '../layers/limit-gate.js';
import type { Health } from '../upstream/health.js';
import { Alarm, alarmsOf, type AlarmList, type Alarms } from '../time/alarms.js';
import type { Clock } from '../time/clock.js';
import { checkOrder, refuse } from '../decide/validate.js';
import type { Admission, Layer, LoopSettings } from './layer.js';

export interface PlanOptions {
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
