/** The part of `process` that signals come from. */
export interface SignalSource {
  readonly pid: number;
  readonly on: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly off: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly kill: (pid: number, signal: NodeJS.Signals) => unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/**
 * One press of Ctrl-C reaches us more than once when npm or a script stands between: the terminal
 * tells everybody, and they pass it on.
 */
const SAME_PRESS_MS = 500;

/** Resolves at the first signal, to stop in peace. One that comes later ends the process at once. */
export function firstSignal(
  source: SignalSource = process,
  now: () => number = () => performance.now(),
): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const listener = (signal: NodeJS.Signals): void => {
      if (first === undefined) {
        first = now();
        resolve();
      } else if (now() - first >= SAME_PRESS_MS) {
        for (const one of SIGNALS) source.off(one, listener);
        source.kill(source.pid, signal);
      }
    };
    for (const signal of SIGNALS) source.on(signal, listener);
  });
}
