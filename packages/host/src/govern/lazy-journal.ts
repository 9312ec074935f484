import { toolError, type SettledFailure } from '@toolkeel/contract';
import type { CallRow, Journal } from '@toolkeel/journal';
import { getOperationTool } from '@toolkeel/journal/tools';
import type { HostLog } from '../log/log.js';
import { within } from './within.js';

export interface LazyJournalOptions {
  readonly open: () => Promise<Journal>;
  /** Whether something can be changed here: then it is opened soon, and a failure is an error. */
  readonly mutates: boolean;
  /** Whether it outlives this process: else nobody will ask for the calls that it has not seen. */
  readonly keeps: boolean;
  readonly log: HostLog;
}

export interface LazyJournal extends Journal {
  /** Resolves when it is open; rejects with why it cannot be. */
  readonly ready: () => Promise<void>;
}

/** After the first answer of a server, which somebody waits for. */
const SOON_MS = 250;
/** Calls are written down when nobody waits for anything. */
const NOTE_MS = 1000;
const AGAIN_MS = 60_000;
/** Calls that are remembered until they can be written down. */
const MOST_CALLS = 1000;
/** So that whoever asks hears of it from us, and not from a timer that knows nothing. */
const MARGIN_MS = 30;
const LAST_WORDS_MS = 2000;

/**
 * A journal that is opened when it is first needed: neither its code nor its database is on the way
 * to the first answer of a server. What failed is tried again by the next who needs it.
 */
export function lazyJournal({ open, mutates, keeps, log }: LazyJournalOptions): LazyJournal {
  const early: CallRow[] = [];
  let opened: Journal | undefined;
  let opening: Promise<Journal> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let isClosed = false;

  const take = (journal: Journal): Journal => {
    opened = journal;
    if (isStarted && mutates && !isClosed) journal.start();
    for (const row of early.splice(0)) journal.noteCall(row);
    return journal;
  };
  const get = (): Promise<Journal> => {
    opening ??= open()
      .then(take)
      .catch((cause: unknown) => {
        opening = undefined;
        throw cause;
      });
    return opening;
  };
  const openAfter = (ms: number): void => {
    if (opened || isClosed) return;
    timer ??= setTimeout(() => {
      get()
        .catch((cause: unknown) => {
          early.splice(0);
          log(mutates ? 'error' : 'warn', 'journal_not_open', { cause });
          return new Promise<void>((resolve) => setTimeout(resolve, AGAIN_MS).unref());
        })
        .finally(() => {
          timer = undefined;
        });
    }, ms).unref();
  };

  // Answers come from an open journal. A mark that is lost errs on the safe side.
  const noteDelivered = (operationId: string): void => {
    if (!isClosed) opened?.noteDelivered(operationId);
  };

  return {
    ready: async () => void (await get()),
    around: async (call, next, scope) => {
      if (!call.tool.mutation) return next();
      let journal = opened;
      if (!journal) {
        const until = (scope?.deadline ?? Infinity) - MARGIN_MS;
        try {
          journal = await within(until - performance.now(), get());
        } catch (cause) {
          log('error', 'journal_not_open', { correlation_id: call.correlationId, cause });
          return unwritable();
        }
      }
      return journal.around(call, next, scope);
    },
    operations: {
      list: async (filter) => (await get()).operations.list(filter),
      show: async (id) => (await get()).operations.show(id),
      resolve: async (id, resolution) => (await get()).operations.resolve(id, resolution),
    },
    approvals: {
      list: async (filter) => (await get()).approvals.list(filter),
      show: async (id) => (await get()).approvals.show(id),
      approve: async (id, decision) => (await get()).approvals.approve(id, decision),
      reject: async (id, decision) => (await get()).approvals.reject(id, decision),
      edit: async (id, edit) => (await get()).approvals.edit(id, edit),
    },
    tool: getOperationTool({
      show: async (id) => (await get()).operations.show(id),
      delivered: noteDelivered,
    }),
    noteDelivered,
    noteCall: (row) => {
      if (opened) return opened.noteCall(row);
      early.push(row);
      if (early.length > MOST_CALLS) early.shift();
      return openAfter(NOTE_MS);
    },
    noteDenial: async (denial) => (await get()).noteDenial(denial),
    counts: async () => (await get()).counts(),
    start: () => {
      isStarted = true;
      if (!mutates) return;
      if (opened) opened.start();
      else openAfter(SOON_MS);
    },
    close: async (graceMs) => {
      clearTimeout(timer);
      const isWanted = opening !== undefined || (keeps && early.length > 0);
      isClosed = true;
      if (!isWanted) return;
      const journal = await within(LAST_WORDS_MS, get()).catch(() => undefined);
      await journal?.close(graceMs);
    },
  };
}

function unwritable(): SettledFailure {
  const text =
    'The journal cannot be opened, so nothing was sent: what is not written down first could happen twice. The operator finds the cause in the log.';
  return { ok: false, error: toolError('db_error', text, { outcome: 'not_executed' }).input };
}
