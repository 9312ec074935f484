import { checkNumber, MAX_TIMER_MS } from '../decide/validate.js';
import type { AttemptContext } from '../engine/attempt.js';
import { FaultError } from '../fault.js';
import { systemClock, type Clock } from './clock.js';

/** Passes a stream on and lets each piece of it count as progress of the attempt. */
export async function* countProgress<T>(
  source: AsyncIterable<T>,
  attempt: Pick<AttemptContext, 'progress'>,
): AsyncGenerator<T, void, void> {
  for await (const piece of source) {
    attempt.progress();
    yield piece;
  }
}

export interface IdleStreamOptions {
  readonly idleMs: number;
  readonly clock?: Clock;
}

/**
 * Passes a stream on, and fails it with a `timeout` fault of the `idle` clock when nothing arrives
 * for too long. For streams that outlive the call that opened them. The time that the reader takes
 * between two pieces does not count.
 */
export async function* withIdleTimeout<T>(
  source: AsyncIterable<T>,
  { idleMs, clock = systemClock }: IdleStreamOptions,
): AsyncGenerator<T, void, void> {
  checkNumber('idleMs', idleMs, { above: 0, max: MAX_TIMER_MS });
  const iterator = source[Symbol.asyncIterator]();
  let over = false;
  try {
    for (;;) {
      const next = await nextWithin(iterator, idleMs, clock);
      if (next.done) {
        over = true;
        return;
      }
      yield next.value;
    }
  } catch (error) {
    over = !(error instanceof FaultError);
    throw error;
  } finally {
    // A silent source may never answer this either: it is told, not waited for.
    if (!over) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function nextWithin<T>(
  iterator: AsyncIterator<T>,
  idleMs: number,
  clock: Clock,
): Promise<IteratorResult<T>> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(idleMs, () =>
      reject(new FaultError({ kind: 'timeout', sent: 'maybe', clock: 'idle' })),
    );
    iterator.next().then(
      (piece) => {
        clock.clearTimer(timer);
        resolve(piece);
      },
      (error: unknown) => {
        clock.clearTimer(timer);
        reject(error);
      },
    );
  });
}
