import type { Settled } from '@toolkeel/contract';
import { every } from '../background/every.js';
import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';
import type { CallContext } from './call.js';

/** A time, and a position in the order of events of this process. */
export interface Moment {
  readonly at: number;
  readonly order: number;
}

/** Records which results reached their callers, in batches, so that an answer does not wait for the disk. */
export interface Deliveries {
  /** Records the delivery of an answer once the call reports it. */
  readonly expect: (callContext: CallContext, operation: Operation, answer: Settled) => void;
  readonly note: (operationId: string) => void;
  /** The start of a call, for `wasDelivered`. */
  readonly moment: () => Moment;
  /**
   * Whether an executed operation was delivered before a call began. Deliveries are written with a delay:
   * flushes those of this process, then waits for those of others, at the latest until `until`.
   */
  readonly wasDelivered: (operation: Operation, began: Moment, until: number) => Promise<boolean>;
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A lost delivery is harmless: the result is only replayed for longer. */
const FLUSH_MS = 250;
/** How much longer than FLUSH_MS another process may take to write its deliveries. */
const MAX_DELAY_MS = 1000;
const POLL_MS = 100;
const BATCH = 500;
const MAX_PENDING = 10_000;

export function createDeliveries({
  store,
  clock,
  report,
}: Pick<JournalContext, 'store' | 'clock' | 'report'>): Deliveries {
  const pending = new Map<string, number>();
  /** First deliveries by this process, kept while other processes may not see them yet. */
  const own = new Map<string, Moment>();
  let order = 0;
  const moment = (): Moment => ({ at: clock.now(), order: (order += 1) });

  const flush = async (): Promise<void> => {
    while (pending.size > 0) {
      const batch = [...pending].slice(0, BATCH);
      for (const [id] of batch) pending.delete(id);
      const now = clock.now();
      try {
        await store.markDelivered(batch.map(([id, at]) => ({ id, agoMs: Math.round(now - at) })));
      } catch (cause) {
        for (const [id, at] of batch) {
          if (!pending.has(id) && pending.size < MAX_PENDING) pending.set(id, at);
        }
        throw cause;
      }
    }
  };
  const background = every({ clock, report, ms: FLUSH_MS, work: flush });
  const note = (id: string): void => {
    pending.delete(id);
    if (pending.size < MAX_PENDING) pending.set(id, clock.now());
    if (!own.has(id)) own.set(id, moment());
    for (const [oldest, { at }] of own) {
      if (own.size <= MAX_PENDING && clock.now() - at < FLUSH_MS + MAX_DELAY_MS) break;
      own.delete(oldest);
    }
  };
  return {
    note,
    moment,
    flush,
    wasDelivered: async ({ id, settledAt }, began, until) => {
      if (settledAt === undefined) return false;
      const first = own.get(id);
      if (first) {
        await flush();
        return first.order < began.order;
      }
      const beganAt = (await store.now()) - (clock.now() - began.at);
      for (;;) {
        const deliveredAt = (await store.get(id))?.deliveredAt;
        if (deliveredAt !== undefined) return deliveredAt < beganAt;
        const isLate = (await store.now()) - settledAt > FLUSH_MS + MAX_DELAY_MS;
        if (isLate || clock.now() >= until) return false;
        await new Promise<void>((resolve) => void clock.setTimer(POLL_MS, resolve));
      }
    },
    expect: (callContext, { id, effect }, answer) => {
      if (effect === 'once' && statesExecuted(answer)) callContext.onDelivered?.(() => note(id));
    },
    close: async () => {
      await background.stop();
      await flush().catch(report);
    },
  };
}

/** Only an answer that states the final outcome counts as a delivery. */
function statesExecuted(answer: Settled): boolean {
  return answer.ok || answer.error.outcome === 'executed';
}
