import type pg from 'pg';
import { JournalError } from '../../error.js';
import type { Linked } from './link-audit.js';

/** Work that follows commits without delaying their callers, one run at a time. */
interface FollowUp {
  /** Runs the work soon; calls until then are one run. */
  readonly schedule: () => void;
  /** Runs the work if it is scheduled, and resolves when it has ended. */
  readonly finish: () => Promise<void>;
}

/** `work` never rejects. */
function followUp(delayMs: number, work: () => Promise<void>): FollowUp {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const start = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return (running = running.then(work));
  };
  return {
    schedule: () => {
      timer ??= setTimeout(() => void start(), delayMs).unref();
    },
    finish: () => (timer === undefined ? running : start()),
  };
}

/** How long a row stays in its shard, unless the audit is read before. */
const LINK_MS = 250;

/** Links the audit in the background. Rows that are not linked now are linked by the next reader or process. */
export function auditLinker(
  link: (ifBusy: 'skip' | 'wait') => Promise<Linked>,
): FollowUp & { readonly now: () => Promise<void> } {
  const linker = followUp(LINK_MS, async () => {
    let linked: Linked;
    do linked = await link('skip').catch(() => 'all');
    while (linked === 'more');
    // Another process may have started before the rows of this one were committed.
    if (linked === 'busy') linker.schedule();
  });
  return {
    ...linker,
    /** Before reading. A user that may not write, and an outdated program, see the rows that are linked. */
    now: async () => {
      try {
        while ((await link('wait')) === 'more');
      } catch (error) {
        if (error instanceof JournalError && SHOWS_LINKED.has(error.reason)) return;
        throw error;
      }
    },
  };
}

/** Wakeups within this time are one transaction. */
const NOTIFY_MS = 5;

const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, payload) FROM unnest($2::text[]) AS payload`;

const SHOWS_LINKED: ReadonlySet<JournalError['reason']> = new Set(['read_only', 'schema']);

/**
 * Wakes waiting callers of other processes. Not inside the transaction: the server runs the commits of
 * transactions that notify one after the other. A lost message delays a caller until it reads again, so
 * the commit does not wait for the disk.
 */
export function wakeupNotifier(
  pool: Pick<pg.Pool, 'query'>,
  channel: string,
): { readonly notify: (payload: string) => void; readonly finish: () => Promise<void> } {
  let payloads: string[] = [];
  const sender = followUp(NOTIFY_MS, async () => {
    const sent = payloads;
    payloads = [];
    await pool
      .query({ name: 'toolkeel_notify', text: NOTIFY, values: [channel, sent] })
      .catch(() => undefined);
  });
  return {
    notify: (payload) => {
      payloads.push(payload);
      sender.schedule();
    },
    finish: sender.finish,
  };
}
