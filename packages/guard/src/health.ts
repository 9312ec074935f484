interface HealthOptions {
  /** 0: no checks. */
  readonly intervalMs: number;
  /** Whether no request is in flight: those have time limits of their own, which find a hung upstream. */
  readonly isIdle: () => boolean;
  /** Asks the upstream, and restarts it if it does not respond. */
  readonly check: () => Promise<void>;
}

export interface HealthWatch {
  /** The upstream has sent something, so it need not be asked in this interval. */
  readonly seen: () => void;
  readonly stop: () => void;
}

/** Checks an idle upstream regularly, so that a hung one is restarted before a call needs it. */
export function watchHealth({ intervalMs, isIdle, check }: HealthOptions): HealthWatch {
  if (intervalMs === 0) return { seen: () => {}, stop: () => {} };
  let isSeen = false;
  let isChecking = false;
  const timer = setInterval(() => {
    const wasSeen = isSeen;
    isSeen = false;
    if (wasSeen || isChecking || !isIdle()) return;
    isChecking = true;
    void check().finally(() => {
      isChecking = false;
      // The answer to this check says nothing about the next interval.
      isSeen = false;
    });
  }, intervalMs).unref();
  return {
    seen: () => {
      isSeen = true;
    },
    stop: () => clearInterval(timer),
  };
}
