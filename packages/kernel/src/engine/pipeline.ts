import { refuse } from '../decide/validate.js';
import { FaultError, thrownFor } from '../fault-error.js';
import type { Classify } from '../classify.js';
import type { Effect, Outcome } from '../fault.js';
import { systemClock, type Clock } from '../time/clock.js';
import type { AttemptContext } from './attempt.js';
import { Call, type CallOptions } from './call.js';
import type { AttemptFn, CallFn, Layer } from './layer.js';
import { Plan } from './plan.js';

export interface PipelineOptions {
  /** What the guarded work does to the world. No default: an undeclared POST must not go out twice. */
  readonly effect: Effect;
  /** Turns what the work throws into a fault. Without it only a `FaultError` is understood. */
  readonly classify?: Classify;
  /** A `once` call that was surely not sent may be sent again. */
  readonly retryUnsent?: boolean;
  /**
   * Gets a fresh credential after a 401; the call is then tried once more. Rejecting, or answering
   * `false`, means that there is none to be had.
   */
  readonly refreshAuth?: (signal: AbortSignal) => unknown;
  /** Stands in events: the tool, the route. */
  readonly name?: string;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** A guarded function: throws a `FaultError`, or gives an `Outcome` and never throws. */
export interface Guarded<I, O> {
  (input: I, options?: CallOptions): Promise<O>;
  outcome(input: I, options?: CallOptions): Promise<Outcome<O>>;
}

export type Work<I, O> = (input: I, attempt: AttemptContext) => Promise<O> | O;

/** A composition of layers, ready to guard any work. */
export class Pipeline {
  readonly #plan: Plan;
  readonly #layers: readonly Layer[];
  readonly #wrapped: boolean;

  constructor(layers: readonly Layer[], options: PipelineOptions) {
    checkEffect(options?.effect);
    for (const layer of layers) layer.accepts?.(options.effect);
    this.#layers = layers;
    this.#wrapped = layers.some((layer) => layer.wrapCall ?? layer.wrapAttempt);
    this.#plan = new Plan(layers, {
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      classify: options.classify ?? unknownFault,
      effect: options.effect,
      name: options.name,
      retryUnsent: options.retryUnsent ?? false,
      refreshAuth: options.refreshAuth,
    });
  }

  /** The same function, guarded. */
  wrap<I, O>(work: Work<I, O>): Guarded<I, O> {
    if (typeof work !== 'function') refuse('work', 'must be a function', typeof work);
    if (this.#wrapped) return this.#wrapOutside(work as AttemptFn) as Guarded<I, O>;
    const plan = this.#plan;
    const run = work as AttemptFn;
    return Object.assign(
      (input: I, options?: CallOptions) =>
        new Call(plan, run, input, options, false).run() as Promise<O>,
      {
        outcome: (input: I, options?: CallOptions) =>
          new Call(plan, run, input, options, true).run() as Promise<Outcome<O>>,
      },
    );
  }

  /** Guards one piece of work, now. */
  run<O>(work: (attempt: AttemptContext) => Promise<O> | O, options?: CallOptions): Promise<O> {
    return this.wrap<undefined, O>((_, attempt) => work(attempt))(undefined, options);
  }

  outcome<O>(
    work: (attempt: AttemptContext) => Promise<O> | O,
    options?: CallOptions,
  ): Promise<Outcome<O>> {
    return this.wrap<undefined, O>((_, attempt) => work(attempt)).outcome(undefined, options);
  }

  #wrapOutside(work: AttemptFn): Guarded<unknown, unknown> {
    const plan = this.#plan;
    const inner = this.#layers.reduceRight(
      (next, layer) => layer.wrapAttempt?.(next) ?? next,
      work,
    );
    const base: CallFn = (input, options) =>
      new Call(plan, inner, input, options, true).run() as Promise<Outcome<unknown>>;
    const outcome = this.#layers.reduceRight((next, layer) => layer.wrapCall?.(next, plan) ?? next, base);
    return Object.assign(
      async (input: unknown, options?: CallOptions) => {
        const answer = await outcome(input, options);
        if (answer.ok) return answer.value;
        throw thrownFor(answer.fault);
      },
      { outcome: (input: unknown, options?: CallOptions) => outcome(input, options) },
    );
  }
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

function checkEffect(effect: unknown): void {
  if (effect !== 'read' && effect !== 'idempotent' && effect !== 'once') {
    refuse('effect', "must say what the work does to the world: 'read', 'idempotent' or 'once'", effect);
  }
}

const unknownFault: Classify = (cause) =>
  cause instanceof FaultError ? cause.fault : { kind: 'unexpected', sent: 'maybe', cause };
