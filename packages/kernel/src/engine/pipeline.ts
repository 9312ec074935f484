import { checkChoice, refuse } from '../decide/validate.js';
import { type Effect, type Outcome, toThrowable } from '../fault.js';
import type { Classify } from '../classify.js';
import type { Clock } from '../time/clock.js';
import { Attempt, type AttemptContext } from './attempt.js';
import { Call, type CallOptions } from './call.js';
import {
  type AttemptFn,
  type CallFn,
  type Layer,
  Plan,
  type UntypedResilientFunction,
} from './layer.js';

export interface PipelineOptions {
  /** The side effects of the work. No default, so that an undeclared POST is never sent twice. */
  readonly effect: Effect;
  /** Converts what the work throws to a fault. Default: only a `FaultError` is recognised. */
  readonly classify?: Classify;
  /** Allows a `once` call to be retried when it was certainly not sent. */
  readonly retryUnsent?: boolean;
  /** Name in events: the tool, the route. */
  readonly name?: string;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** Throws a `FaultError` when called directly; `outcome` returns an `Outcome` and never throws. */
export interface ResilientFunction<I, O> {
  (...args: Arguments<I>): Promise<O>;
  outcome(...args: Arguments<I>): Promise<Outcome<O>>;
}

/** The input may be omitted if the work accepts undefined. */
type Arguments<I> = undefined extends I
  ? [input?: I, options?: CallOptions]
  : [input: I, options?: CallOptions];

export type Work<I, O> = (input: I, attempt: AttemptContext) => Promise<O> | O;

/** A composition of layers that can wrap any number of functions. */
export class Pipeline {
  readonly #plan: Plan;

  constructor(layers: readonly Layer[], options: PipelineOptions) {
    checkChoice('effect', options?.effect, ['read', 'idempotent', 'once']);
    for (const layer of layers) layer.check?.(options.effect, layers);
    this.#plan = new Plan(layers, options);
  }

  /** Returns the work with the layers applied. */
  wrap<I, O>(work: Work<I, O>): ResilientFunction<I, O> {
    if (typeof work !== 'function') refuse('work', 'must be a function', typeof work);
    const plan = this.#plan;
    const wrapAll = plan.layers.find((layer) => layer.wrapAll)?.wrapAll ?? callOnly;
    return wrapAll(plan, work as AttemptFn) as unknown as ResilientFunction<I, O>;
  }

  /** Runs one piece of work immediately. */
  run<O>(work: (attempt: AttemptContext) => Promise<O> | O, options?: CallOptions): Promise<O> {
    return this.wrap<undefined, O>((_, attempt) => work(attempt))(undefined, options);
  }
}

let retained: unknown;

/** Runs calls without a wrapping layer, which saves one promise per call. */
function callOnly(plan: Plan, work: AttemptFn): UntypedResilientFunction {
  // Retains one instance of each class: V8 drops the optimised code of a shape without live objects,
  // and calls after a garbage collection would take three times as long.
  retained ??= new Attempt(new Call(plan, work, undefined, undefined, false), 0, plan.clock.now());
  const call = (input: unknown, options: CallOptions | undefined): Promise<unknown> =>
    new Call(plan, work, input, options, false).run();
  const outcome: CallFn = (input, options) =>
    new Call(plan, work, input, options, true).run() as never;
  return Object.assign(call, { outcome });
}

/**
 * Composes layers. A layer's hooks determine when it runs, so order matters only among layers with
 * the same hook.
 *
 * @example
 * const careful = compose([deadline(5_000), retry({ maxRetries: 1 }), breaker()], { effect: 'read' });
 * const item = await careful.run(({ signal }) => load(id, signal));
 */
export function compose(layers: readonly Layer[], options: PipelineOptions): Pipeline {
  return new Pipeline(layers, options);
}

/** Functions that wrap a call or an attempt, for layers that need more than hooks. */
export interface Wraps {
  /** Wraps the whole call, so that a layer can answer it from a cache. */
  wrapCall?(next: CallFn, plan: Plan): CallFn;
  /** Wraps the work of each attempt. */
  wrapAttempt?(next: AttemptFn): AttemptFn;
}

/**
 * Adds wrapping functions to a layer. The layer carries the code that applies them, so that bundles
 * without wrapping layers do not contain it.
 */
export function wrapping<L extends Layer>(layer: L, wraps: Wraps): L {
  return Object.assign(layer, { wraps, wrapAll });
}

/** The first layer is the outermost. */
function wrapAll(plan: Plan, work: AttemptFn): UntypedResilientFunction {
  const layers = plan.layers.toReversed();
  const inner = layers.reduce((next, { wraps }) => wraps?.wrapAttempt?.(next) ?? next, work);
  const base: CallFn = (input, options) =>
    new Call(plan, inner, input, options, true).run() as never;
  const whole = layers.reduce((next, { wraps }) => wraps?.wrapCall?.(next, plan) ?? next, base);
  const outcome = neverRejecting(whole);
  return Object.assign(throwing(outcome), { outcome });
}

/** Converts an exception of a wrapping layer to a fault. */
function neverRejecting(next: CallFn): CallFn {
  return async (input, options) => {
    try {
      return await next(input, options);
    } catch (cause) {
      return { ok: false, fault: { kind: 'unexpected', sent: 'maybe', cause } };
    }
  };
}

function throwing(outcome: CallFn) {
  return async (input: unknown, options: CallOptions | undefined): Promise<unknown> => {
    const answer = await outcome(input, options);
    if (answer.ok) return answer.value;
    throw toThrowable(answer.fault);
  };
}
