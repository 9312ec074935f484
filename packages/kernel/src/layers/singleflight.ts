import { refuse } from '../decide/validate.js';
import { Call, type CallOptions } from '../engine/call.js';
import { type CallFn, type Layer, Plan } from '../engine/layer.js';
import { wrapping } from '../engine/pipeline.js';
import type { Effect, Outcome } from '../fault.js';

/** The key of an input. Calls with equal keys are coalesced; undefined opts out. */
export type KeyOf<I> = (input: I) => string | undefined;

/** An in-flight call and the number of callers that wait for it. */
interface Flight {
  readonly answer: Promise<Outcome<unknown>>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Coalesces concurrent calls with equal keys. Each caller keeps its own signal and deadline; the call
 * is aborted when its last caller has left.
 */
export function singleflight<I>(keyOf: KeyOf<I>): Layer {
  const flights = new Map<string, Flight>();

  const layer: Layer = {
    name: 'singleflight',
    check(effect: Effect) {
      if (effect === 'once') refuse('singleflight', 'would merge separate mutations', effect);
    },
  };

  return wrapping(layer, {
    wrapCall(next: CallFn, plan: Plan): CallFn {
      const joining = new Plan([], plan);

      function start(key: string, input: unknown, options: CallOptions | undefined): Flight {
        const controller = new AbortController();
        const { correlationId, route } = options ?? {};
        const answer = next(input, {
          signal: controller.signal,
          ...(correlationId === undefined ? {} : { correlationId }),
          ...(route === undefined ? {} : { route }),
        });
        const flight: Flight = { answer, controller, waiting: 0 };
        flights.set(key, flight);
        void answer.then(() => remove(key, flight));
        return flight;
      }

      function remove(key: string, flight: Flight): void {
        if (flights.get(key) === flight) flights.delete(key);
      }

      return async (input, options) => {
        const key = keyOf(input as I);
        if (key === undefined) return next(input, options);
        let flight: Flight | undefined;
        const join = (): Promise<Outcome<unknown>> => {
          flight = flights.get(key) ?? start(key, input, options);
          flight.waiting++;
          return flight.answer;
        };
        // A nested call applies the caller's deadline and signal. A caller without time left does
        // not start a flight.
        const joined = (await new Call(joining, join, input, options, true).run()) as Outcome<
          Outcome<unknown>
        >;
        if (flight !== undefined) flight.waiting--;
        if (joined.ok) return joined.value;
        if (flight?.waiting === 0) {
          remove(key, flight);
          flight.controller.abort(joined.fault.cause);
        }
        return joined;
      };
    },
  });
}
