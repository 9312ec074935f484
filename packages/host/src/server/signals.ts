/** The part of `process` that delivers signals. */
interface SignalSource {
  readonly pid: number;
  readonly on: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly off: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly kill: (pid: number, signal: NodeJS.Signals) => unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/**
 * A single Ctrl-C arrives more than once below npm or a script: the terminal signals the whole process
 * group, and the parent forwards the signal.
 */
const FORWARDING_MS = 500;

export interface StopSignal {
  /** Resolves at the first signal, for a graceful stop. A later signal terminates the process. */
  readonly stopped: Promise<void>;
  /** The first signal, once it has arrived. */
  readonly received: () => NodeJS.Signals | undefined;
  /** Restores the default effect of the signals, unless one has arrived: a forwarded copy may follow. */
  readonly release: () => void;
}

/** Takes over SIGINT and SIGTERM. */
export function stopSignal(
  source: SignalSource = process,
  now: () => number = () => performance.now(),
): StopSignal {
  let first: number | undefined;
  let received: NodeJS.Signals | undefined;
  let removeListeners = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    const listener = (signal: NodeJS.Signals): void => {
      if (first === undefined) {
        first = now();
        received = signal;
        resolve();
      } else if (now() - first >= FORWARDING_MS) {
        removeListeners();
        source.kill(source.pid, signal);
      }
    };
    removeListeners = () => {
      for (const signal of SIGNALS) source.off(signal, listener);
    };
    for (const signal of SIGNALS) source.on(signal, listener);
  });
  return {
    stopped,
    received: () => received,
    release: () => {
      if (first === undefined) removeListeners();
    },
  };
}
