import { toolError, type PackRecords, type SettledFailure } from '@toolkeel/contract';
import type { CallRow, Journal, JournalEvent, JournalOptions } from '@toolkeel/journal';
import { getOperationTool } from '@toolkeel/journal/tools';
import type { HostLog, LogLevel } from '../log/log.js';
import type { Metrics } from '../metrics.js';
import { withTimeout } from '../promises.js';

/** The options of a journal that its host provides. */
export type JournalDeps = Required<
  Pick<JournalOptions, 'tools' | 'observe' | 'report' | 'watch' | 'process'>
>;

const LEVELS: Readonly<Record<JournalEvent['type'], LogLevel>> = Object.freeze({
  operation_unknown: 'warn',
  operation_reconciled: 'info',
  approval_requested: 'info',
  approval_decided: 'info',
  approved_not_executed: 'warn',
  unknown_not_reconciled: 'info',
  idempotent_replay: 'debug',
});

/** Logs and counts the events of a journal. */
export function journalHooks(
  log: HostLog,
  metrics: Pick<Metrics, 'replay'>,
): Pick<JournalDeps, 'observe' | 'report'> {
  return {
    observe: ({ type, operationId, tool, account, correlationId, result, by, elsewhere }) => {
      if (type === 'idempotent_replay') metrics.replay(tool);
      log(LEVELS[type], type, {
        correlation_id: correlationId,
        operation_id: operationId,
        tool_name: tool,
        account,
        ...(result !== undefined && { result }),
        ...(by !== undefined && { by }),
        ...(elsewhere && { elsewhere }),
      });
    },
    report: (cause, correlationId, about) =>
      log(about === 'read_back' ? 'warn' : 'error', `${about ?? 'journal'}_failed`, {
        ...(correlationId !== undefined && { correlation_id: correlationId }),
        cause,
      }),
  };
}

export interface LazyJournalOptions {
  readonly open: () => Promise<Journal>;
  /** Whether a mutation is registered: then the journal is opened soon, and a failure is an error. */
  readonly mutates: boolean;
  /** Whether the journal outlives the process: if not, buffered calls need not be written at exit. */
  readonly isPersistent: boolean;
  readonly log: HostLog;
}

export interface LazyJournal extends Journal {
  /** Resolves when the journal is open; rejects with the reason if it cannot be opened. */
  readonly ready: () => Promise<void>;
}

/** The delay after a start, so that opening does not compete with the first response. */
const OPEN_DELAY_MS = 250;
/** The delay after the first call of a process that only reads. */
const RECORD_DELAY_MS = 1000;
/** The delay after the start of a process that only reads. */
const REPORT_DELAY_MS = 3000;
const RETRY_DELAY_MS = 60_000;
/** Calls that are buffered until the journal is open. */
const MAX_BUFFERED_CALLS = 1000;
/** Reserved for the response, so that the caller gets this error and not a bare timeout. */
const RESPONSE_MARGIN_MS = 30;
const CLOSE_TIMEOUT_MS = 2000;

/**
 * A journal that is opened on first use, so that neither its code nor its database delays the first
 * response of a server. The next use retries after a failure.
 */
export function lazyJournal({ open, mutates, isPersistent, log }: LazyJournalOptions): LazyJournal {
  const buffer: CallRow[] = [];
  let journal: Journal | undefined;
  let opening: Promise<Journal> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let isClosed = false;

  const onOpened = (opened: Journal): Journal => {
    journal = opened;
    if (isStarted && mutates && !isClosed) opened.start();
    for (const row of buffer.splice(0)) opened.noteCall(row);
    return opened;
  };
  const getOpen = (): Promise<Journal> => {
    opening ??= open()
      .then(onOpened)
      .catch((cause: unknown) => {
        opening = undefined;
        throw cause;
      });
    return opening;
  };
  const openAfter = (ms: number): void => {
    if (journal || isClosed) return;
    timer ??= setTimeout(() => {
      getOpen()
        .catch((cause: unknown) => {
          buffer.splice(0);
          log(mutates ? 'error' : 'warn', 'journal_not_open', { cause });
          return new Promise<void>((resolve) => setTimeout(resolve, RETRY_DELAY_MS).unref());
        })
        .finally(() => {
          timer = undefined;
        });
    }, ms).unref();
  };

  // Only an open journal has results to deliver. A lost mark is safe: the dedup key is held longer.
  const noteDelivered = (operationId: string): void => {
    if (!isClosed) journal?.noteDelivered(operationId);
  };

  return {
    ready: async () => void (await getOpen()),
    middleware: async (call, next, context) => {
      if (!call.tool.mutation) return next();
      let opened = journal;
      if (!opened) {
        const until = (context?.deadline ?? Infinity) - RESPONSE_MARGIN_MS;
        try {
          opened = await withTimeout(until - performance.now(), getOpen());
        } catch (cause) {
          log('error', 'journal_not_open', { correlation_id: call.correlationId, cause });
          return notOpen();
        }
      }
      return opened.middleware(call, next, context);
    },
    operations: {
      list: async (filter) => (await getOpen()).operations.list(filter),
      show: async (id) => (await getOpen()).operations.show(id),
      resolve: async (id, resolution) => (await getOpen()).operations.resolve(id, resolution),
      withdraw: async (id, by) => (await getOpen()).operations.withdraw(id, by),
      check: async (id, by) => (await getOpen()).operations.check(id, by),
      history: async (filter) => (await getOpen()).operations.history(filter),
    },
    approvals: {
      list: async (filter) => (await getOpen()).approvals.list(filter),
      show: async (id) => (await getOpen()).approvals.show(id),
      approve: async (id, decision) => (await getOpen()).approvals.approve(id, decision),
      reject: async (id, decision) => (await getOpen()).approvals.reject(id, decision),
      edit: async (id, edit) => (await getOpen()).approvals.edit(id, edit),
      preview: async (id, edit) => (await getOpen()).approvals.preview(id, edit),
    },
    tool: getOperationTool({
      show: async (id) => (await getOpen()).operations.show(id),
      delivered: noteDelivered,
    }),
    get processId() {
      return journal?.processId;
    },
    flushCalls: async () => (await getOpen()).flushCalls(),
    noteDelivered,
    noteCall: (row) => {
      if (journal) return journal.noteCall(row);
      buffer.push(row);
      if (buffer.length > MAX_BUFFERED_CALLS) buffer.shift();
      return openAfter(RECORD_DELAY_MS);
    },
    noteDenial: async (denial) => (await getOpen()).noteDenial(denial),
    counts: async () => (await getOpen()).counts(),
    start: () => {
      isStarted = true;
      if (!mutates) {
        // Shows this process to the console, also before its first call.
        if (isPersistent) openAfter(REPORT_DELAY_MS);
        return;
      }
      if (journal) journal.start();
      else openAfter(OPEN_DELAY_MS);
    },
    close: async (graceMs) => {
      clearTimeout(timer);
      const isNeeded = opening !== undefined || (isPersistent && buffer.length > 0);
      isClosed = true;
      if (!isNeeded) return;
      const opened = await withTimeout(CLOSE_TIMEOUT_MS, getOpen()).catch(() => undefined);
      await opened?.close(graceMs);
    },
  };
}

/** The records of a pack; the journal is opened when they are first used. */
export function lazyRecords(open: () => Promise<PackRecords>): PackRecords {
  return {
    now: async () => (await open()).now(),
    get: async (kind, account, id) => (await open()).get(kind, account, id),
    put: async (record, expected) => (await open()).put(record, expected),
    list: async (query) => (await open()).list(query),
    count: async (filter) => (await open()).count(filter),
    remove: async (kind, account, id) => (await open()).remove(kind, account, id),
  };
}

function notOpen(): SettledFailure {
  const message =
    'The journal cannot be opened, so nothing was sent: an operation that is not recorded first could execute twice. See the server log for the cause.';
  return { ok: false, error: toolError('db_error', message, { outcome: 'not_executed' }).input };
}
