import type { Clock } from '@toolkeel/kernel';
import { draw, exponential } from './draws.js';

/**
 * How calls come. `perSecond`: an open loop, at random times, whatever became of earlier calls.
 * `callers`: a closed loop, so many callers that each wait for one call before the next.
 */
export type Arrivals = { readonly perSecond: number } | { readonly callers: number };

type Begin = (call: number) => Promise<unknown>;

/** Begins `calls` calls on the clock. They are over when the clock has nothing left to do. */
export function begin(
  arrivals: Arrivals,
  run: { readonly clock: Clock; readonly seed: number; readonly calls: number },
  start: Begin,
): void {
  if ('callers' in arrivals) closedLoop(arrivals.callers, run.calls, start);
  else openLoop(1000 / arrivals.perSecond, run, start);
}

/** When the calls of an open loop begin. */
export function arrivalTimes(options: {
  readonly perSecond: number;
  readonly seed: number;
  readonly calls: number;
}): Float64Array {
  let at = 0;
  return Float64Array.from({ length: options.calls }, (_, call) => {
    at += exponential(draw(options.seed, 'arrival', call), 1000 / options.perSecond);
    return at;
  });
}

function openLoop(
  meanGapMs: number,
  { clock, seed, calls }: { readonly clock: Clock; readonly seed: number; readonly calls: number },
  start: Begin,
): void {
  let call = 0;
  const next = (): void => {
    void start(call);
    call++;
    schedule();
  };
  const schedule = (): void => {
    if (call >= calls) return;
    clock.setTimer(exponential(draw(seed, 'arrival', call), meanGapMs), next);
  };
  schedule();
}

function closedLoop(callers: number, calls: number, start: Begin): void {
  let call = 0;
  const caller = async (): Promise<void> => {
    while (call < calls) await start(call++);
  };
  for (let i = 0; i < callers; i++) void caller();
}
