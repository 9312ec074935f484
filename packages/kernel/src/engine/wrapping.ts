import { thrownFor } from '../fault-error.js';
import type { CallOptions } from './call.js';
import { Call } from './call.js';
import type { AttemptFn, CallFn, UntypedResilientFunction, Layer } from './layer.js';
import type { Plan } from './plan.js';

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
