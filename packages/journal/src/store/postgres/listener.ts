import pg from 'pg';
import type { Waiters } from '../waiters.js';

const RECONNECT_MS = [250, 500, 1000, 2000, 5000] as const;
/** What a lost message would cost at most. */
const SAFETY_NET_MS = 1000;

export interface Listener {
  /** From now on somebody wants to know. */
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

/**
 * Hears over one connection of its own what other processes did. Messages are lost when it breaks, so
 * everybody looks again once it is back; and, while somebody waits, every second in any case.
 */
export function listener(
  settings: pg.ClientConfig,
  channel: string,
  { wake, wakeAll, size }: Pick<Waiters, 'wake' | 'wakeAll' | 'size'>,
): Listener {
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let net: NodeJS.Timeout | undefined;
  let isStopped = false;

  const connect = async (failures: number): Promise<void> => {
    const mine = new pg.Client(settings);
    client = mine;
    let isOver = false;
    const again = (): void => {
      if (isOver || isStopped) return;
      isOver = true;
      void mine.end().catch(() => {});
      const delay = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)]!;
      retry = setTimeout(() => void connect(failures + 1), delay);
    };
    mine.on('error', again);
    mine.on('end', again);
    mine.on('notification', ({ payload = '' }) => hear(payload, wake));
    try {
      await mine.connect();
      await mine.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      failures = 0;
      wakeAll();
    } catch {
      again();
    }
  };

  return {
    start: () => {
      if (isStopped) return;
      if (client === undefined) void connect(0);
      net ??= setInterval(() => {
        if (size() > 0) return wakeAll();
        clearInterval(net);
        net = undefined;
      }, SAFETY_NET_MS);
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(retry);
      clearInterval(net);
      await client?.end().catch(() => {});
    },
  };
}

/** What is sent on the channel. */
export function wakeupPayload(news: 'ended' | 'approved', id: string): string {
  return `${news}:${id}`;
}

function hear(payload: string, wake: Waiters['wake']): void {
  const [, news, id] = /^(ended|approved):(.*)$/.exec(payload) ?? [];
  if (id !== undefined) wake(news as 'ended' | 'approved', id);
}
