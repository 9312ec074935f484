import type { JournalContext } from '../context.js';
import type { DescribeProcess } from '../options.js';
import type { CallRow, ProcessReport } from '../store/activity.js';
import { every } from './every.js';

/** Records calls in batches, so that a read does not wait for the disk, and the state of this process. */
export interface CallRecorder {
  readonly note: (row: CallRow) => void;
  /** Writes what is pending now, also the state of this process. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const FLUSH_MS = 1000;
/** Calls per transaction. SQLite blocks the event loop meanwhile, for half a millisecond with this number. */
const BATCH = 128;
/** Bounds memory while the store is unavailable. */
const MAX_PENDING = 10_000;
/** A process that changes nothing still reports, so that a lost one can be told from an idle one. */
const REPORT_MS = 5000;

export interface CallRecorderOptions extends Pick<JournalContext, 'clock' | 'report'> {
  readonly store: Pick<JournalContext['store'], 'recordCalls'>;
  /** Absent: this process does not report, such as a command of the operator. */
  readonly process?: { readonly id: string; readonly describe: DescribeProcess } | undefined;
}

export function createCallRecorder({
  store,
  clock,
  report,
  process,
}: CallRecorderOptions): CallRecorder {
  const rows: CallRow[] = [];
  const reports = process && createReports(process, clock);

  let flushedAt = -Infinity;

  const writeBatch = async (state?: DueReport): Promise<void> => {
    const batch = rows.splice(0, BATCH);
    try {
      await (state ? store.recordCalls(batch, state.report) : store.recordCalls(batch));
    } catch (cause) {
      rows.unshift(...batch);
      rows.splice(0, Math.max(0, rows.length - MAX_PENDING));
      throw cause;
    }
    state?.written();
  };
  const flush = async (isEnd = false, isForced = false): Promise<void> => {
    flushedAt = clock.now();
    const state = reports?.due(isEnd, isForced || rows.length > 0);
    if (state) await writeBatch(state);
    while (rows.length > 0) await writeBatch();
  };
  /** Of a quick succession of calls only full batches are written until the next flush. */
  const work = async (): Promise<void> => {
    // Half of it, because timers may fire early.
    if (clock.now() - flushedAt >= FLUSH_MS / 2) return flush();
    while (rows.length >= BATCH) await writeBatch();
  };
  const background = every({ clock, report, ms: FLUSH_MS, work });
  return {
    note: (row) => {
      rows.push(process ? ofProcess(row, process.id) : row);
      if (rows.length > MAX_PENDING) rows.splice(0, BATCH);
      if (rows.length === BATCH) void background.now();
    },
    flush: () => flush(false, true),
    close: async () => {
      await background.stop();
      await flush(true).catch(report);
    },
  };
}

/** All rows have the same members: a spread of optional ones costs more than the rest of a quick call. */
function ofProcess(row: CallRow, process: string): CallRow {
  return {
    correlationId: row.correlationId,
    tool: row.tool,
    account: row.account,
    code: row.code,
    at: row.at,
    elapsedMs: row.elapsedMs,
    attempts: row.attempts,
    waitedMs: row.waitedMs,
    operationId: row.operationId,
    outcome: row.outcome,
    process,
    timeline: row.timeline,
    failure: row.failure,
  };
}

interface DueReport {
  readonly report: ProcessReport;
  readonly written: () => void;
}

/** Repeats neither the information nor the state of a process while they do not change. */
function createReports(
  { id, describe }: NonNullable<CallRecorderOptions['process']>,
  clock: JournalContext['clock'],
) {
  const startedAt = Math.round(clock.wallNow());
  let last: { readonly info: string; readonly state: string; readonly at: number } | undefined;
  return {
    /** Undefined: nothing has changed, and the last report is recent. */
    due: (isEnd: boolean, isFree: boolean): DueReport | undefined => {
      const described = describe();
      const info = JSON.stringify(described.info);
      const state = JSON.stringify(described.state);
      const at = clock.now();
      const isChanged = info !== last?.info || state !== last.state;
      if (!isChanged && !isEnd && !isFree && last && at - last.at < REPORT_MS) return undefined;
      return {
        report: {
          id,
          startedAt,
          ...(info !== last?.info && { info }),
          ...(state !== last?.state && { state }),
          ...(isEnd && { ended: true as const }),
        },
        written: () => {
          last = { info, state, at };
        },
      };
    },
  };
}
