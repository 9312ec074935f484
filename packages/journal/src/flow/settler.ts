import type { Clock } from '@toolkeel/kernel';
import { unref } from '../background/every.js';
import type { FencingToken, JournalStore, Settlement } from '../store/store.js';

type Written = 'settled' | 'lost' | 'later';

/** Writes down how operations ended, and goes on trying when the store fails: we know, nobody else does. */
export interface Settler {
  readonly settle: (
    fencingToken: FencingToken,
    settlement: Settlement,
    more?: {
      /** What has to be written before. */
      readonly first?: ((fencingToken: FencingToken) => Promise<boolean>) | undefined;
      /** When it stands in the store, or is not ours to write any more. */
      readonly onWritten?: () => void;
    },
  ) => Promise<Written>;
  /** Tries once more what is still to be written, and then no more. */
  readonly close: () => Promise<void>;
}

const RETRY_MS = { first: 200, most: 15_000 } as const;

interface Pending {
  readonly fencingToken: FencingToken;
  readonly settlement: Settlement;
  readonly more: NonNullable<Parameters<Settler['settle']>[2]>;
}

export function settler({
  store,
  clock,
  report,
}: {
  readonly store: Pick<JournalStore, 'settle'>;
  readonly clock: Clock;
  readonly report: (cause: unknown) => void;
}): Settler {
  const pending = new Set<Pending>();
  let delay: number = RETRY_MS.first;
  let timer: unknown;
  let closed = false;

  const write = async ({ fencingToken, settlement, more }: Pending): Promise<Written> => {
    try {
      await more.first?.(fencingToken);
      const isSettled = await store.settle(fencingToken, settlement);
      more.onWritten?.();
      return isSettled ? 'settled' : 'lost';
    } catch (cause) {
      report(cause);
      return 'later';
    }
  };
  const flush = async (): Promise<void> => {
    if (timer !== undefined) clock.clearTimer(timer);
    timer = undefined;
    for (const each of pending) {
      // One after the other: a store that has just come back should not be overrun.
      if ((await write(each)) === 'later') break;
      pending.delete(each);
    }
    delay = pending.size === 0 ? RETRY_MS.first : Math.min(delay * 2, RETRY_MS.most);
    if (pending.size > 0) arm();
  };
  const arm = (): void => {
    if (closed || timer !== undefined) return;
    timer = clock.setTimer(delay, () => void flush());
    unref(timer);
  };

  return {
    close: () => {
      closed = true;
      return flush();
    },
    settle: async (fencingToken, settlement, more = {}) => {
      const attempt = { fencingToken, settlement, more };
      const written = await write(attempt);
      if (written === 'later') {
        pending.add(attempt);
        arm();
      }
      return written;
    },
  };
}
