import type { AttemptContext } from '../engine/attempt.js';
import { type Fault, FaultError, type FaultKind } from '../fault.js';
import type { Clock } from '../time/clock.js';

/** The response to one request. */
export type Step<O> =
  | { readonly answer: O; readonly afterMs?: number }
  | { readonly fault: Fault; readonly afterMs?: number }
  /** Throws this value. */
  | { readonly throws: unknown; readonly afterMs?: number }
  /** Never responds. `deaf` also ignores the attempt's signal. */
  | { readonly hang: true; readonly deaf?: boolean };

export interface ScriptedRequest<I> {
  readonly input: I;
  readonly at: number;
  readonly index: number;
  /** Set if the attempt's signal was aborted before the response. */
  abortedAt?: number;
  abortReason?: unknown;
}

/** A fake upstream that follows a script and records its requests. */
export class ScriptedUpstream<I, O> {
  readonly requests: ScriptedRequest<I>[] = [];
  readonly #clock: Clock;
  readonly #steps: readonly Step<O>[];

  /** The last step repeats. */
  constructor(clock: Clock, steps: readonly Step<O>[]) {
    this.#clock = clock;
    this.#steps = steps;
  }

  /** The function to pass to `withResilience` or `wrap`. */
  readonly handle = (input: I, attempt: AttemptContext): Promise<O> => {
    const step = this.#steps[Math.min(this.requests.length, this.#steps.length - 1)];
    if (step === undefined) throw new Error('the script is empty');
    const request: ScriptedRequest<I> = { input, at: this.#clock.now(), index: attempt.index };
    this.requests.push(request);
    return this.#perform(step, request, attempt);
  };

  #perform(step: Step<O>, request: ScriptedRequest<I>, attempt: AttemptContext): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      if ('hang' in step && step.deaf) return;
      const timer =
        'hang' in step
          ? undefined
          : this.#clock.setTimer(step.afterMs ?? 0, () => {
              if ('answer' in step) resolve(step.answer);
              else if ('fault' in step) reject(new FaultError(step.fault));
              else reject(step.throws);
            });
      attempt.signal.addEventListener(
        'abort',
        () => {
          if (timer !== undefined) this.#clock.clearTimer(timer);
          request.abortedAt = this.#clock.now();
          request.abortReason = attempt.signal.reason;
          reject(attempt.signal.reason as Error);
        },
        { once: true },
      );
    });
  }
}

/** A fault with the usual fields of its kind. */
export function fault(kind: FaultKind, more: Partial<Fault> = {}): Fault {
  const defaults: Partial<Record<FaultKind, Partial<Fault>>> = {
    connect: { sent: 'no' },
    rate_limited: { sent: 'answered', status: 429 },
    server: { sent: 'answered', status: 503 },
    auth: { sent: 'answered', status: 401 },
    rejected: { sent: 'answered', status: 400 },
    bad_response: { sent: 'answered', status: 200 },
    circuit_open: { sent: 'no' },
    overloaded: { sent: 'no' },
  };
  return { kind, sent: 'maybe', ...defaults[kind], ...more };
}
