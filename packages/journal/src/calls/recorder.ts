import type { Clock } from '@toolkeel/kernel';
import { every } from '../background/every.js';
import type { CallRow, JournalStore } from '../store/store.js';

/** Writes calls down, many at a time: a read must not wait for a disk. */
export interface CallRecorder {
  readonly note: (row: CallRow) => void;
  readonly close: () => Promise<void>;
}

const FLUSH_MS = 1000;
const BATCH = 200;
/** What a store that is away for long would otherwise make of our memory. */
const MOST = 10_000;

export function callRecorder({
  store,
  clock,
  report,
}: {
  readonly store: Pick<JournalStore, 'recordCalls'>;
  readonly clock: Clock;
  readonly report: (cause: unknown) => void;
}): CallRecorder {
  const rows: CallRow[] = [];

  const flush = async (): Promise<void> => {
    while (rows.length > 0) {
      const batch = rows.splice(0, BATCH);
      try {
        await store.recordCalls(batch);
      } catch (cause) {
        rows.unshift(...batch);
        rows.splice(0, Math.max(0, rows.length - MOST));
        throw cause;
      }
    }
  };
  const background = every({ clock, report, ms: FLUSH_MS, work: flush });
  return {
    note: (row) => {
      rows.push(row);
      if (rows.length > MOST) rows.splice(0, BATCH);
      if (rows.length === BATCH) void background.now();
    },
    close: async () => {
      await background.stop();
      await flush().catch(report);
    },
  };
}
