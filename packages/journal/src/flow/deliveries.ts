import type { Settled } from '@toolkeel/contract';
import { every } from '../background/every.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import type { JournalScope } from './scope.js';

/** A time, and a place in the order of what this process did at that time. */
export interface Moment {
  readonly at: number;
  readonly order: number;
}

/** Records which results have reached their callers, many at a time: an answer must not wait for a disk. */
export interface Deliveries {
  /** To be called with an answer that is about to be given. */
  readonly expect: (scope: JournalScope, operation: Operation, answer: Settled) => void;
  readonly note: (operationId: string) => void;
  /** For `wasDelivered`: when a call began. */
  readonly moment: () => Moment;
  /**
   * Whether an operation that was just executed had been delivered when a call began. Marks are written
   * late: writes those of this process, then waits for those of others, not longer than `until`.
   */
  readonly wasDelivered: (operation: Operation, began: Moment, until: number) => Promise<boolean>;
  /** Writes what has been noted. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A delivery that is lost only means that the result is replayed for longer. */
const FLUSH_MS = 250;
/** What another process may take to write its marks, beside the time that it lets pass between them. */
const LATE_MS = 1000;
const LOOK_MS = 100;
const BATCH = 500;
const MOST = 10_000;

export function deliveries({
  store,
  clock,
  report,
}: Pick<Kit, 'store' | 'clock' | 'report'>): Deliveries {
  const noted = new Map<string, number>();
  /** The first deliveries by this process, for as long as their marks may be new. */
  const own = new Map<string, Moment>();
  let order = 0;
  const moment = (): Moment => ({ at: clock.now(), order: (order += 1) });

  const flush = async (): Promise<void> => {
    while (noted.size > 0) {
      const batch = [...noted].slice(0, BATCH);
      for (const [id] of batch) noted.delete(id);
      const now = clock.now();
      try {
        await store.markDelivered(batch.map(([id, at]) => ({ id, agoMs: Math.round(now - at) })));
      } catch (cause) {
        for (const [id, at] of batch) if (!noted.has(id) && noted.size < MOST) noted.set(id, at);
        throw cause;
      }
    }
  };
  const background = every({ clock, report, ms: FLUSH_MS, work: flush });
  const note = (id: string): void => {
    noted.delete(id);
    if (noted.size < MOST) noted.set(id, clock.now());
    if (!own.has(id)) own.set(id, moment());
    for (const [oldest, { at }] of own) {
      if (own.size <= MOST && clock.now() - at < FLUSH_MS + LATE_MS) break;
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
        const isLate = (await store.now()) - settledAt > FLUSH_MS + LATE_MS;
        if (isLate || clock.now() >= until) return false;
        await new Promise<void>((resolve) => void clock.setTimer(LOOK_MS, resolve));
      }
    },
    expect: (scope, { id, effect }, answer) => {
      if (effect === 'once' && saysExecuted(answer)) scope.onDelivered?.(() => note(id));
    },
    close: async () => {
      await background.stop();
      await flush().catch(report);
    },
  };
}

/** Only an answer that states the final outcome is a delivery. */
function saysExecuted(answer: Settled): boolean {
  return answer.ok || answer.error.outcome === 'executed';
}
