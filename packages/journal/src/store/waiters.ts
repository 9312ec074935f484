import type { Operation } from '../operation.js';

/** Who waits inside of this process, and for what. */
export interface Waiters {
  /** Resolves when it is told of the operation, or at the signal; true: it was told. */
  readonly next: (id: string, signal: AbortSignal) => Promise<boolean>;
  readonly tell: (news: 'ended' | 'approved', id: string) => void;
  /** Everybody looks again, because nobody knows what was missed. */
  readonly tellAll: () => void;
  readonly size: () => number;
  readonly onApproved: (listener: () => void) => () => void;
}

export function waiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>();
  const listeners = new Set<() => void>();
  const wake = (id: string): void => waiting.get(id)?.forEach((told) => told());

  return {
    next: (id, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(false);
        const those = waiting.get(id) ?? new Set();
        waiting.set(id, those);
        const leave = (wasTold: boolean): void => {
          those.delete(told);
          if (those.size === 0 && waiting.get(id) === those) waiting.delete(id);
          signal.removeEventListener('abort', aborted);
          resolve(wasTold);
        };
        const told = (): void => leave(true);
        const aborted = (): void => leave(false);
        those.add(told);
        signal.addEventListener('abort', aborted);
      }),
    tell: (news, id) => {
      if (news === 'ended') wake(id);
      else for (const listener of listeners) listener();
    },
    tellAll: () => {
      for (const id of waiting.keys()) wake(id);
      for (const listener of listeners) listener();
    },
    size: () => waiting.size,
    onApproved: (listener) => {
      const own = (): void => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

/** Looks, and looks again whenever there is news, until nobody works on it any more. */
export async function waitFor(
  id: string,
  signal: AbortSignal,
  look: (id: string) => Promise<Operation | undefined>,
  { next }: Pick<Waiters, 'next'>,
): Promise<Operation | undefined> {
  for (;;) {
    // Listening first: what happens while we look must not be missed.
    const stop = new AbortController();
    const news = next(id, AbortSignal.any([signal, stop.signal]));
    const operation = await look(id).catch((error: unknown) => {
      stop.abort();
      throw error;
    });
    const { state, owner } = operation ?? {};
    const inFlight = owner !== undefined && (state === 'claimed' || state === 'sending');
    if (!inFlight) {
      stop.abort();
      return operation;
    }
    if (!(await news)) return operation;
  }
}
