import { refuse } from '../decide/validate.js';
import { Call, type CallOptions } from '../engine/call.js';
import { type CallFn, type Layer, Plan } from '../engine/layer.js';
import { wrapping } from '../engine/pipeline.js';
import type { Effect, Outcome } from '../fault.js';

/** What makes two inputs the same request; undefined: this one is like no other. */
export type KeyOf<I> = (input: I) => string | undefined;

/** One call under way and those who wait for it. */
interface Flight {
  readonly answer: Promise<Outcome<unknown>>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Equal calls at the same time become one. Each caller keeps its own signal and deadline: one who
 * leaves does not take the others' answer away, and the last to leave ends the work.
 */
export function singleflight<I>(keyOf: KeyOf<I>): Layer {
  const flights = new Map<string, Flight>();

  const layer: Layer = {
    name: 'singleflight',
    accepts(effect: Effect) {
      if (effect === 'once') refuse('singleflight', 'would merge acts that are each meant', effect);
    },
  };

  return wrapping(layer, {
    wrapCall(next: CallFn, plan: Plan): CallFn {
      const joining = new Plan([], plan);

      function takeOff(key: string, input: unknown, options: CallOptions | undefined): Flight {
        const controller = new AbortController();
        const { correlationId, route } = options ?? {};
        const answer = next(input, {
          signal: controller.signal,
          ...(correlationId === undefined ? {} : { correlationId }),
          ...(route === undefined ? {} : { route }),
        });
        const flight: Flight = { answer, controller, waiting: 0 };
        flights.set(key, flight);
        void answer.then(() => land(key, flight));
        return flight;
      }

      function land(key: string, flight: Flight): void {
        if (flights.get(key) === flight) flights.delete(key);
      }

      return async (input, options) => {
        const key = keyOf(input as I);
        if (key === undefined) return next(input, options);
        let flight: Flight | undefined;
        const join = (): Promise<Outcome<unknown>> => {
          flight = flights.get(key) ?? takeOff(key, input, options);
          flight.waiting++;
          return flight.answer;
        };
        // A call of its own, so that each caller leaves at its own deadline or signal; one that has
        // none of its time left does not even take off.
        const joined = (await new Call(joining, join, input, options, true).run()) as Outcome<
          Outcome<unknown>
        >;
        if (flight !== undefined) flight.waiting--;
        if (joined.ok) return joined.value;
        if (flight?.waiting === 0) {
          land(key, flight);
          flight.controller.abort(joined.fault.cause);
        }
        return joined;
      };
    },
  });
}
