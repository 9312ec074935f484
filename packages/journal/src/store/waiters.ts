import type { Operation } from '../operation.js';
import { isInFlight, type Wakeup } from './record.js';

/** The callers of this process that wait for an operation to end or for an approval. */
export interface Waiters {
  readonly next: (id: string, signal: AbortSignal) => Subscription;
  readonly wake: (wakeup: Wakeup, id: string) => void;
  /** Makes all of them read again, after wakeups may have been lost. */
  readonly wakeAll: () => void;
  readonly size: () => number;
  /** The ids of the operations that callers wait for. */
  readonly waitedFor: () => readonly string[];
  readonly onApproved: (listener: () => void) => () => void;
}

interface Subscription {
  /** Resolves to true when the operation has changed, to false at the signal. */
  readonly woken: Promise<boolean>;
  readonly stop: () => void;
}

export function waiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>();
  const listeners = new Set<() => void>();
  const wakeWaiting = (id: string): void => waiting.get(id)?.forEach((onWake) => onWake());
  const wakeListeners = (): void => {
    for (const listener of listeners) listener();
  };

  return {
    next: (id, signal) => {
      let leave = (_wasWoken: boolean): void => {};
      const woken = new Promise<boolean>((resolve) => {
        if (signal.aborted) return resolve(false);
        const subscribers = waiting.get(id) ?? new Set();
        waiting.set(id, subscribers);
        const onWake = (): void => leave(true);
        const onAbort = (): void => leave(false);
        leave = (wasWoken) => {
          subscribers.delete(onWake);
          if (subscribers.size === 0 && waiting.get(id) === subscribers) waiting.delete(id);
          signal.removeEventListener('abort', onAbort);
          resolve(wasWoken);
        };
        subscribers.add(onWake);
        signal.addEventListener('abort', onAbort);
      });
      return { woken, stop: () => leave(false) };
    },
    wake: (wakeup, id) => {
      if (wakeup === 'ended') wakeWaiting(id);
      else wakeListeners();
    },
    wakeAll: () => {
      for (const id of waiting.keys()) wakeWaiting(id);
      wakeListeners();
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

/** Reads the operation after each wakeup, until no owner works on it. */
export async function waitFor(
  id: string,
  signal: AbortSignal,
  read: (id: string) => Promise<Operation | undefined>,
  { next }: Pick<Waiters, 'next'>,
): Promise<Operation | undefined> {
  for (;;) {
    // Subscribes before reading, so that no change in between is missed.
    const { woken, stop } = next(id, signal);
    try {
      const operation = await read(id);
      if (operation === undefined || !isInFlight(operation) || !(await woken)) return operation;
    } finally {
      stop();
    }
  }
}
