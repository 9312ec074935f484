import type { Clock } from '../clock.js';
import type { Limits } from './table.js';

/** Whose requests are counted: those of an app, or those of a user of an app. */
interface Counted {
  readonly app: string;
  readonly user?: string;
}

interface Taken {
  readonly allowed: boolean;
  /** What every answer tells, also one that refuses. */
  readonly headers: Readonly<Record<string, string>>;
}

const QUARTER_HOUR = 15 * 60_000;
const DAY = 24 * 60 * 60_000;

interface Window {
  readonly until: number;
  used: number;
}

interface Family {
  readonly header: string;
  readonly key: string;
  readonly limit: number;
  readonly length: number;
}

export interface Windows {
  /** Counts a request, unless there is no room for it. */
  readonly take: (route: string, who: Counted) => Taken;
}

/** A window opens with the first request in it. Each credential has its own for each route. */
export function createWindows(clock: Clock, limitsOf: (route: string) => Limits): Windows {
  const windows = new Map<string, Window>();
  const windowOf = ({ key, length }: Family): Window => {
    const now = clock.now();
    const known = windows.get(key);
    if (known && known.until > now) return known;
    const opened = { until: now + length, used: 0 };
    windows.set(key, opened);
    return opened;
  };

  return {
    take: (route, who) => {
      const families = familiesOf(route, limitsOf(route), who);
      const counted = families.map((family) => ({ ...family, window: windowOf(family) }));
      const allowed = counted.every(({ limit, window }) => window.used < limit);
      if (allowed) for (const { window } of counted) window.used += 1;
      const headers = Object.fromEntries(
        counted.flatMap(({ header, limit, window }) => [
          [`${header}-limit`, String(limit)],
          [`${header}-remaining`, String(Math.max(0, limit - window.used))],
          [`${header}-reset`, String(Math.ceil(window.until / 1000))],
        ]),
      ) as Record<string, string>;
      return { allowed, headers };
    },
  };
}

function familiesOf(route: string, limits: Limits, { app, user }: Counted): Family[] {
  const whose = user === undefined ? `app ${app}` : `user ${user} of ${app}`;
  const family = (
    header: string,
    key: string,
    limit: number | undefined,
    length: number,
  ): Family[] =>
    limit === undefined ? [] : [{ header, key: `${route} ${header} ${key}`, limit, length }];
  return [
    ...family('x-rate-limit', whose, user === undefined ? limits.app : limits.user, QUARTER_HOUR),
    ...family('x-app-limit-24hour', app, limits.appDay, DAY),
    ...(user === undefined ? [] : family('x-user-limit-24hour', whose, limits.userDay, DAY)),
  ];
}

/** What a refusal tells that is drawn, and not counted. */
export function spentHeaders(kind: 'window' | 'day', resetAt: number): Record<string, string> {
  const reset = String(Math.ceil(resetAt / 1000));
  if (kind === 'window') return { 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': reset };
  return {
    'x-user-limit-24hour-limit': '100',
    'x-user-limit-24hour-remaining': '0',
    'x-user-limit-24hour-reset': reset,
  };
}
