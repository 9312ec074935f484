import { checkChoice, refuse } from '../decide/validate.js';
import { type Effect, FaultError, type Outcome, thrownFor } from '../fault.js';
import type { Classify } from '../classify.js';
import { systemClock, type Clock } from '../time/clock.js';
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
  /** What the guarded work does to the world. No default: an undeclared POST must not go out twice. */
  readonly effect: Effect;
  /** Turns what the work throws into a fault. Without it only a `FaultError` is understood. */
  readonly classify?: Classify;
  /** A `once` call that was surely not sent may be sent again. */
  readonly retryUnsent?: boolean;
  /** Stands in events: the tool, the route. */
  readonly name?: string;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** A guarded function: throws a `FaultError`, or gives an `Outcome` and never throws. */
export interface ResilientFunction<I, O> {
  (...args: Arguments<I>): Promise<O>;
  outcome(...args: Arguments<I>): Promise<Outcome<O>>;
}

/** Work that takes no input is called without one. */
type Arguments<I> = undefined extends I
  ? [input?: I, options?: CallOptions]
  : [input: I, options?: CallOptions];

export type Work<I, O> = (input: I, attempt: AttemptContext) => Promise<O> | O;

/** A composition of layers, ready to guard any work. */
export class Pipeline {
  readonly #plan: Plan;

  constructor(layers: readonly Layer[], options: PipelineOptions) {
    checkChoice('effect', options?.effect, ['read', 'idempotent', 'once']);
    for (const layer of layers) layer.accepts?.(options.effect, layers);
    this.#plan = new Plan(layers, {
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      classify: options.classify ?? unknownFault,
      effect: options.effect,
      name: options.name,
      retryUnsent: options.retryUnsent,
    });
  }

  /** The same function, guarded. */
  wrap<I, O>(work: Work<I, O>): ResilientFunction<I, O> {
    if (typeof work !== 'function') refuse('work', 'must be a function', typeof work);
    const plan = this.#plan;
    const run = work as AttemptFn;
    const wrapAll = plan.layers.find((layer) => layer.wrapAll)?.wrapAll ?? callOnly;
    return wrapAll(plan, run) as unknown as ResilientFunction<I, O>;
  }

  /** Guards one piece of work, now. */
  run<O>(work: (attempt: AttemptContext) => Promise<O> | O, options?: CallOptions): Promise<O> {
    return this.wrap<undefined, O>((_, attempt) => work(attempt))(undefined, options);
  }
}

let shapes: unknown;

/** Straight to the call, since nothing stands around it: one promise less. */
function callOnly(plan: Plan, work: AttemptFn): UntypedResilientFunction {
  // V8 forgets the shape of objects of which none is left, and with it the fast code for them: after
  // a collection between two calls the next ones would cost three times as much. One is kept.
  shapes ??= new Attempt(new Call(plan, work, undefined, undefined, false), 0, plan.clock.now());
  const guarded = (input: unknown, options: CallOptions | undefined): Promise<unknown> =>
    new Call(plan, work, input, options, false).run();
  const outcome: CallFn = (input, options) =>
    new Call(plan, work, input, options, true).run() as never;
  return Object.assign(guarded, { outcome });
}

/**
 * Composes layers by hand. Each knows its place, so that their order only matters among layers
 * that do the same kind of thing.
 *
 * @example
 * const careful = compose([deadline(5_000), retry({ maxRetries: 1 }), breaker()], { effect: 'read' });
 * const item = await careful.run(({ signal }) => load(id, signal));
 */
export function compose(layers: readonly Layer[], options: PipelineOptions): Pipeline {
  return new Pipeline(layers, options);
}

const unknownFault: Classify = (cause) =>
  cause instanceof FaultError ? cause.fault : { kind: 'unexpected', sent: 'maybe', cause };

/** What a layer puts around, where hooks are not enough. One promise each. */
export interface Wraps {
  /** Around the whole call: an answer can come from elsewhere. */
  wrapCall?(next: CallFn, plan: Plan): CallFn;
  /** Around the callee itself. */
  wrapAttempt?(next: AttemptFn): AttemptFn;
}

/**
 * Makes a layer that wraps. It carries the code for that along, so that pipelines of plain hooks,
 * which are most, do without it.
 */
export function wrapping<L extends Layer>(layer: L, wraps: Wraps): L {
  return Object.assign(layer, { wraps, wrapAll });
}

/** The first of the layers is the outermost. */
function wrapAll(plan: Plan, work: AttemptFn): UntypedResilientFunction {
  const layers = plan.layers.toReversed();
  const inner = layers.reduce((next, { wraps }) => wraps?.wrapAttempt?.(next) ?? next, work);
  const base: CallFn = (input, options) =>
    new Call(plan, inner, input, options, true).run() as never;
  const whole = layers.reduce((next, { wraps }) => wraps?.wrapCall?.(next, plan) ?? next, base);
  const outcome = settling(whole);
  return Object.assign(throwing(outcome), { outcome });
}

/** A layer around a call that throws has made a mistake; the caller gets an answer all the same. */
function settling(next: CallFn): CallFn {
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
    throw thrownFor(answer.fault);
  };
}
