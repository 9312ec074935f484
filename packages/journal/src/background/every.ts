import type { Clock } from '@toolkeel/kernel';

export interface Background {
  /** Does it now; who asks while it runs waits for a run that begins after that. */
  readonly now: () => Promise<void>;
  /** Resolves when nothing runs any more. */
  readonly stop: () => Promise<void>;
}

interface Options {
  readonly clock: Clock;
  readonly ms: number;
  /** Its signal is aborted when nothing more is to be begun. */
  readonly work: (stopping: AbortSignal) => Promise<unknown>;
  readonly report: (cause: unknown) => void;
}

/** Does something again and again, never twice at once. It does not keep a process alive. */
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

/** A timer that alone does not keep the process alive. */
export function unref(timer: unknown): void {
  (timer as { readonly unref?: () => void } | undefined)?.unref?.();
}
