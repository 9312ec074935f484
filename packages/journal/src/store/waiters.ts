import type { Operation } from '../operation.js';

/** Who waits inside of this process, and for what. */
export interface Waiters {
  readonly next: (id: string, signal: AbortSignal) => Listening;
  readonly wake: (news: 'ended' | 'approved', id: string) => void;
  /** Everybody looks again, because nobody knows what was missed. */
  readonly wakeAll: () => void;
  readonly size: () => number;
  /** The operations that somebody waits for. */
  readonly waitedFor: () => readonly string[];
  readonly onApproved: (listener: () => void) => () => void;
}

interface Listening {
  /** True when there is news of the operation, false at the signal. */
  readonly news: Promise<boolean>;
  readonly stop: () => void;
}

export function waiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>();
  const listeners = new Set<() => void>();
  const wake = (id: string): void => waiting.get(id)?.forEach((told) => told());

  return {
    next: (id, signal) => {
      let leave = (_wasTold: boolean): void => {};
      const news = new Promise<boolean>((resolve) => {
        if (signal.aborted) return resolve(false);
        const those = waiting.get(id) ?? new Set();
        waiting.set(id, those);
        const told = (): void => leave(true);
        const aborted = (): void => leave(false);
        leave = (wasTold) => {
          those.delete(told);
          if (those.size === 0 && waiting.get(id) === those) waiting.delete(id);
          signal.removeEventListener('abort', aborted);
          resolve(wasTold);
        };
        those.add(told);
        signal.addEventListener('abort', aborted);
      });
      return { news, stop: () => leave(false) };
    },
    wake: (news, id) => {
      if (news === 'ended') wake(id);
      else for (const listener of listeners) listener();
    },
    wakeAll: () => {
      for (const id of waiting.keys()) wake(id);
      for (const listener of listeners) listener();
    },
    size: () => waiting.size,
    waitedFor: () => [...waiting.keys()],
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
    const { news, stop } = next(id, signal);
    try {
      const operation = await look(id);
      if (operation === undefined || !isWorkedOn(operation) || !(await news)) return operation;
    } finally {
      stop();
    }
  }
}

function isWorkedOn({ state, owner }: Operation): boolean {
  return owner !== undefined && (state === 'claimed' || state === 'sending');
}
