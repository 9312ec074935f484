import pg from 'pg';
import type { Wakeup } from '../record.js';
import type { Waiters } from '../waiters.js';

const RECONNECT_MS = [250, 500, 1000, 2000, 5000] as const;
/** The longest delay that a lost message causes. */
const FALLBACK_POLL_MS = 1000;

export interface Listener {
  /** Starts listening, if it has not started yet. */
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

/**
 * Receives the wakeups of other processes over a dedicated connection. Messages are lost while it is
 * down, so all waiting callers read again after a reconnect, and every second in any case.
 */
export function listener(
  settings: pg.ClientConfig,
  channel: string,
  { wake, wakeAll, size }: Pick<Waiters, 'wake' | 'wakeAll' | 'size'>,
): Listener {
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let fallback: NodeJS.Timeout | undefined;
  let isStopped = false;

  const connect = async (failures: number): Promise<void> => {
    const mine = new pg.Client(settings);
    client = mine;
    let isBroken = false;
    const reconnect = (): void => {
      if (isBroken || isStopped) return;
      isBroken = true;
      void mine.end().catch(() => {});
      const delay = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)]!;
      retry = setTimeout(() => void connect(failures + 1), delay);
    };
    mine.on('error', reconnect);
    mine.on('end', reconnect);
    mine.on('notification', ({ payload = '' }) => receive(payload, wake));
    try {
      await mine.connect();
      await mine.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      failures = 0;
      wakeAll();
    } catch {
      reconnect();
    }
  };

  return {
    start: () => {
      if (isStopped) return;
      if (client === undefined) void connect(0);
      fallback ??= setInterval(() => {
        if (size() > 0) return wakeAll();
        clearInterval(fallback);
        fallback = undefined;
      }, FALLBACK_POLL_MS);
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(retry);
      clearInterval(fallback);
      await client?.end().catch(() => {});
    },
  };
}

/** The payload of a message on the channel. */
export function wakeupPayload(wakeup: Wakeup, id: string): string {
  return `${wakeup}:${id}`;
}

function receive(payload: string, wake: Waiters['wake']): void {
  const [, wakeup, id] = /^(ended|approved):(.*)$/.exec(payload) ?? [];
  if (id !== undefined) wake(wakeup as Wakeup, id);
}
