import { checkNumber } from '../decide/validate.js';
import type { AttemptContext } from '../engine/attempt.js';
import type { AttemptFn, Layer } from '../engine/layer.js';
import { wrapping } from '../engine/pipeline.js';
import { type Fault, FaultError } from '../fault.js';
import { systemClock, type Clock } from '../time/clock.js';
import { fault } from './scripted-upstream.js';

/** `hang` does not respond until the attempt is aborted. */
export type InjectedFault = Fault | 'hang';

export interface FaultInjection {
  /** The share of attempts that fail. */
  readonly rate: number;
  /** The faults to draw from. Default: 503, connection reset, connection refused. */
  readonly faults?: readonly InjectedFault[];
  /** How long a failing attempt takes. Default 0. */
  readonly latencyMs?: number | (() => number);
  /** Periods in which every attempt fails, in milliseconds on the clock. */
  readonly bursts?: readonly { readonly from: number; readonly to: number }[];
  readonly random?: () => number;
  readonly clock?: Clock;
}

const defaultFaults: readonly InjectedFault[] = [
  fault('server'),
  fault('network'),
  fault('connect'),
];

/** A layer that makes attempts fail before they reach the work. */
export function injectFaults(options: FaultInjection): Layer {
  const { rate, faults = defaultFaults, latencyMs = 0, bursts = [] } = options;
  const { random = Math.random, clock = systemClock } = options;
  checkNumber('injectFaults.rate', rate, { min: 0, max: 1 });
  if (typeof latencyMs === 'number') checkNumber('injectFaults.latencyMs', latencyMs, { min: 0 });
  for (const { from, to } of bursts) {
    checkNumber('injectFaults.bursts.from', from, {});
    checkNumber('injectFaults.bursts.to', to, { min: from });
  }
  if (faults.length === 0) throw new RangeError('injectFaults.faults must name at least one fault');

  const fails = (): boolean => {
    const now = clock.now();
    return bursts.some(({ from, to }) => now >= from && now < to) || random() < rate;
  };

  const wrapAttempt =
    (next: AttemptFn): AttemptFn =>
    (input, attempt) => {
      if (!fails()) return next(input, attempt);
      const drawn = faults[Math.floor(random() * faults.length)]!;
      const delay = typeof latencyMs === 'function' ? latencyMs() : latencyMs;
      return drawn === 'hang' ? hang(attempt) : failAfter(delay, drawn, attempt, clock);
    };
  return wrapping({ name: 'injectFaults' }, { wrapAttempt });
}

function hang(attempt: AttemptContext): Promise<never> {
  return new Promise((_, reject) => {
    attempt.signal.addEventListener('abort', () => reject(attempt.signal.reason as Error));
  });
}

function failAfter(
  delayMs: number,
  drawn: Fault,
  attempt: AttemptContext,
  clock: Clock,
): Promise<never> {
  return new Promise((_, reject) => {
    if (delayMs <= 0) return reject(new FaultError(drawn));
    const timer = clock.setTimer(delayMs, () => reject(new FaultError(drawn)));
    attempt.signal.addEventListener('abort', () => {
      clock.clearTimer(timer);
      reject(attempt.signal.reason as Error);
    });
  });
}
