import type { RetryPolicy } from '../decide/policy.js';
import type { Effect } from '../fault.js';
import type { EventBody, KernelEvent, Listener } from '../events.js';
import type { Classify } from '../classify.js';
import type { HedgeGate } from '../layers/hedge.js';
import type { LimitGate } from '../layers/limit-gate.js';
import type { Health } from '../upstream/health.js';
import { alarmsOf, type AlarmList, type Alarms } from '../time/alarms.js';
import type { Clock } from '../time/clock.js';
import { refuse } from '../decide/validate.js';
import type { Layer, LoopSettings } from './layer.js';
import type { Call } from './call.js';

export interface PlanOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly classify: Classify;
  readonly effect: Effect;
  readonly name: string | undefined;
  readonly retryUnsent: boolean;
  readonly refreshAuth: ((signal: AbortSignal) => unknown) | undefined;
}

type Having<K extends keyof Layer> = Layer & Required<Pick<Layer, K>>;

/** A composition, sorted by hook once, so that a call only walks over what is there. */
export class Plan implements PlanOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly classify: Classify;
  readonly effect: Effect;
  readonly name: string | undefined;
  readonly retryUnsent: boolean;
  readonly refreshAuth: ((signal: AbortSignal) => unknown) | undefined;

  readonly layers: readonly Layer[];
  readonly enters: readonly Having<'enter'>[];
  readonly befores: readonly Having<'before'>[];
  readonly afters: readonly Having<'after'>[];
  readonly permits: readonly Having<'permit'>[];
  readonly settleds: readonly Having<'settled'>[];

  readonly retry: RetryPolicy | undefined;
  readonly hedge: HedgeGate | undefined;
  readonly health: Health | undefined;
  readonly gate: LimitGate | undefined;
  readonly listeners: readonly Listener[];
  readonly callTimeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly idleTimeoutMs: number;

  readonly alarms: Alarms;
  /** The first alarm of a call that brings no deadline of its own, and the list it goes to. */
  readonly firstAlarmMs: number;
  readonly firstAlarms: AlarmList | undefined;

  constructor(layers: readonly Layer[], options: PlanOptions) {
    this.clock = options.clock;
    this.random = options.random;
    this.classify = options.classify;
    this.effect = options.effect;
    this.name = options.name;
    this.retryUnsent = options.retryUnsent;
    this.refreshAuth = options.refreshAuth;

    this.layers = layers;
    this.enters = having(layers, 'enter');
    this.befores = having(layers, 'before');
    this.afters = having(layers, 'after');
    this.permits = having(layers, 'permit');
    this.settleds = having(layers, 'settled');

    this.retry = only(layers, 'retry');
    this.hedge = only(layers, 'hedge');
    this.health = only(layers, 'health');
    this.gate = only(layers, 'gate');
    this.callTimeoutMs = only(layers, 'callTimeoutMs') ?? Number.POSITIVE_INFINITY;
    this.attemptTimeoutMs = only(layers, 'attemptTimeoutMs') ?? Number.POSITIVE_INFINITY;
    this.idleTimeoutMs = only(layers, 'idleTimeoutMs') ?? Number.POSITIVE_INFINITY;
    this.listeners = layers.flatMap((layer) => layer.loop?.listener ?? []);

    this.alarms = alarmsOf(this.clock);
    this.firstAlarmMs = Math.min(this.callTimeoutMs, this.attemptTimeoutMs, this.idleTimeoutMs);
    this.firstAlarms =
      this.firstAlarmMs < Number.POSITIVE_INFINITY
        ? this.alarms.listFor(this.firstAlarmMs)
        : undefined;
  }

  emit(call: Call, at: number, body: EventBody): void {
    const event = {
      ...body,
      correlationId: call.correlationId,
      at,
      ...(this.name === undefined ? {} : { name: this.name }),
    } as KernelEvent;
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch {
        // Whoever watches a call must not be able to change what becomes of it.
      }
    }
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
  if (found.length > 1) {
    refuse('layers', `has ${found.map((layer) => layer.name).join(' and ')}: one of them is too many`);
  }
  return found[0]?.loop?.[setting];
}
