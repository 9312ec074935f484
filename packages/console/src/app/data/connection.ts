/** How the page is connected. Only `live` may look healthy. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live'; readonly heardAt: number }
  /** Connected, but silent for longer than a beat takes. */
  | { readonly state: 'late'; readonly heardAt: number }
  | {
      readonly state: 'lost';
      readonly since: number;
      readonly heardAt: number | undefined;
      readonly retryAt: number;
    }
  | { readonly state: 'signed-out' };

/** The server sends something at least every 2 s. */
const LATE_AFTER_MS = 3_000;
export const LOST_AFTER_MS = 4_500;
export const CHECK_MS = 500;

/**
 * What silence means. A page that was busy or suspended has not processed yet what the server sent meanwhile, so it is
 * late, and lost only after it could have listened for long enough.
 */
export function judgeSilence(
  connection: Connection,
  now: number,
  /** For how long it could have heard something, since it last did. */
  listenedMs: number,
): 'ok' | 'late' | 'lost' {
  if (connection.state !== 'live' && connection.state !== 'late') return 'ok';
  if (listenedMs >= LOST_AFTER_MS) return 'lost';
  return now - connection.heardAt >= LATE_AFTER_MS ? 'late' : 'ok';
}

/** Of the time between two checks; a check that comes late was held up together with the events. */
export const listenedFor = (elapsedMs: number): number =>
  Math.max(0, Math.min(elapsedMs, 2 * CHECK_MS));

/** The delay before the next try to connect, with the number of failed ones: 0.5, 1, 2, 4, then 5 s. */
export function reconnectDelay(failures: number): number {
  return Math.min(5_000, 500 * 2 ** Math.max(0, failures - 1));
}
