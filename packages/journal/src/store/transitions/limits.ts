import type { Script } from '../script.js';
import type { Limit, SendResult } from '../store.js';
import type { Hit, Tables } from '../tables.js';

/** All of them or none. What is reported is the one that takes longest. */
export function* claimLimits(
  { limits: table }: Tables,
  limits: readonly Limit[],
  by: Pick<Hit, 'operation' | 'send'>,
): Script<(SendResult & { kind: 'limited' }) | undefined> {
  const lasting = longestWindows(limits);
  // Always in the same order, so that two of us never wait for each other.
  const now = yield* table.lock([...lasting.keys()].toSorted());

  let worst: (SendResult & { kind: 'limited' }) | undefined;
  for (const limit of limits) {
    const retryAfterMs = yield* waitOf(table, limit, now);
    if (retryAfterMs > (worst?.retryAfterMs ?? 0)) worst = { kind: 'limited', limit, retryAfterMs };
  }
  if (worst !== undefined) return worst;

  const hits = [...lasting].map(([name, ms]) => ({ ...by, name, at: now, expiresAt: now + ms }));
  yield* table.add(hits);
  return undefined;
}

/** 0 when there is room: fewer than `max` were counted within the window. */
function* waitOf(table: Tables['limits'], limit: Limit, now: number): Script<number> {
  if (limit.max < 1) return limit.windowMs;
  const { last, nth } = yield* table.newest(limit.name, limit.max);
  // The clock was set back. How long ago it really was nobody knows; from now on it grows older.
  if (last !== undefined && last > now) yield* table.pullBack(limit.name, now);
  return nth === undefined ? 0 : Math.max(0, Math.min(nth, now) + limit.windowMs - now);
}

/** What counts under one name is counted once, however many windows look at it. */
function longestWindows(limits: readonly Limit[]): ReadonlyMap<string, number> {
  const longest = new Map<string, number>();
  for (const { name, windowMs } of limits) {
    longest.set(name, Math.max(windowMs, longest.get(name) ?? 0));
  }
  return longest;
}
