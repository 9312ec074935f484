import type { JournalContext } from '../context.js';
import type { CallRow } from '../store/store.js';
import { every } from './every.js';

/** Records calls in batches, so that a read does not wait for the disk. */
export interface CallRecorder {
  readonly note: (row: CallRow) => void;
  readonly close: () => Promise<void>;
}

const FLUSH_MS = 1000;
const BATCH = 200;
/** Bounds memory while the store is unavailable. */
const MAX_PENDING = 10_000;

export function createCallRecorder({
  store,
  clock,
  report,
}: Pick<JournalContext, 'clock' | 'report'> & {
  readonly store: Pick<JournalContext['store'], 'recordCalls'>;
}): CallRecorder {
  const rows: CallRow[] = [];

  const flush = async (): Promise<void> => {
    while (rows.length > 0) {
      const batch = rows.splice(0, BATCH);
      try {
        await store.recordCalls(batch);
      } catch (cause) {
        rows.unshift(...batch);
        rows.splice(0, Math.max(0, rows.length - MAX_PENDING));
        throw cause;
      }
    }
  };
  const background = every({ clock, report, ms: FLUSH_MS, work: flush });
  return {
    note: (row) => {
      rows.push(row);
      if (rows.length > MAX_PENDING) rows.splice(0, BATCH);
      if (rows.length === BATCH) void background.now();
    },
    close: async () => {
      await background.stop();
      await flush().catch(report);
    },
  };
}
