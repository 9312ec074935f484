import type { Clock } from '@toolkeel/kernel';

export interface Background {
  /** Runs the work now. During a run it waits for another run that starts afterwards. */
  readonly now: () => Promise<void>;
  /** Stops and resolves once the current run has ended. */
  readonly stop: () => Promise<void>;
}

interface Options {
  readonly clock: Clock;
  readonly ms: number;
  /** The signal aborts on `stop`. */
  readonly work: (stopping: AbortSignal) => Promise<unknown>;
  readonly report: (cause: unknown) => void;
}

/** Runs work periodically, never concurrently with itself. Does not keep the process alive. */
export function every({ clock, ms, work, report }: Options): Background {
  let timer: unknown;
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  const stopping = new AbortController();

  const arm = (): void => {
    if (stopping.signal.aborted) return;
    timer = clock.setTimer(ms, () => void run());
    unref(timer);
  };
  const run = (): Promise<void> => {
    if (stopping.signal.aborted) return Promise.resolve();
    clock.clearTimer(timer);
    running ??= work(stopping.signal)
      .then(() => undefined, report)
      .finally(() => {
        running = undefined;
        clock.clearTimer(timer);
        arm();
      });
    return running;
  };
  arm();
  return {
    now: () => {
      if (!running) return run();
      waiting ??= running.then(() => {
        waiting = undefined;
        return run();
      });
      return waiting;
    },
    stop: async () => {
      stopping.abort();
      clock.clearTimer(timer);
      await running;
      await waiting;
    },
  };
}

/** Lets the process exit while the timer is pending. */
export function unref(timer: unknown): void {
  (timer as { readonly unref?: () => void } | undefined)?.unref?.();
}
