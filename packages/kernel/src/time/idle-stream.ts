import { checkNumber, MAX_TIMER_MS } from '../decide/validate.js';
import type { AttemptContext } from '../engine/attempt.js';
import { FaultError } from '../fault.js';
import { systemClock, type Clock } from './clock.js';

/** Yields the chunks of a stream and reports each one as progress of the attempt. */
export async function* countProgress<T>(
  source: AsyncIterable<T>,
  attempt: Pick<AttemptContext, 'progress'>,
): AsyncGenerator<T, void, void> {
  for await (const chunk of source) {
    attempt.progress();
    yield chunk;
  }
}

export interface IdleStreamOptions {
  readonly idleMs: number;
  readonly clock?: Clock;
}

/**
 * Yields the chunks of a stream; throws a `timeout` fault with `clock: 'idle'` if no chunk arrives for
 * `idleMs`. For streams that outlive the call that opened them. Time that the consumer spends between
 * two chunks does not count.
 */
export async function* withIdleTimeout<T>(
  source: AsyncIterable<T>,
  { idleMs, clock = systemClock }: IdleStreamOptions,
): AsyncGenerator<T, void, void> {
  checkNumber('idleMs', idleMs, { above: 0, max: MAX_TIMER_MS });
  const iterator = source[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const next = await nextBeforeTimeout(iterator, idleMs, clock);
      if (next.done) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } catch (error) {
    ended = !(error instanceof FaultError);
    throw error;
  } finally {
    // Not awaited: a source that is stuck may never respond to this either.
    if (!ended) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function nextBeforeTimeout<T>(
  iterator: AsyncIterator<T>,
  idleMs: number,
  clock: Clock,
): Promise<IteratorResult<T>> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(idleMs, () =>
      reject(new FaultError({ kind: 'timeout', sent: 'maybe', clock: 'idle' })),
    );
    iterator.next().then(
      (chunk) => {
        clock.clearTimer(timer);
        resolve(chunk);
      },
      (error: unknown) => {
        clock.clearTimer(timer);
        reject(error);
      },
    );
  });
}
