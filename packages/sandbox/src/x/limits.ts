import type { Clock } from '../server/clock.js';

/** The credential that requests are counted for: an app, or a user of an app. */
interface Credential {
  readonly app: string;
  readonly user?: string;
}

const QUARTER_HOUR = 15 * 60_000;
const DAY = 24 * 60 * 60_000;

interface Window {
  readonly until: number;
  used: number;
}

interface WindowSpec {
  readonly header: string;
  readonly key: string;
  readonly limit: number;
  readonly length: number;
}

export type Windows = ReturnType<typeof createWindows>;

/** Fixed windows per credential and route, opened by their first request. */
export function createWindows(clock: Clock, limitsOf: (route: string) => Limits) {
  const windows = new Map<string, Window>();
  const windowOf = ({ key, length }: WindowSpec): Window => {
    const now = clock.now();
    const known = windows.get(key);
    if (known && known.until > now) return known;
    const opened = { until: now + length, used: 0 };
    windows.set(key, opened);
    return opened;
  };

  return {
    /** Counts a request if all of its windows have room. The headers are those of every response. */
    take: (route: string, who: Credential) => {
      const specs = specsFor(route, limitsOf(route), who);
      const counted = specs.map((spec) => ({ ...spec, window: windowOf(spec) }));
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

function specsFor(route: string, limits: Limits, { app, user }: Credential): WindowSpec[] {
  const whose = user === undefined ? `app ${app}` : `user ${user} of ${app}`;
  const spec = (
    header: string,
    key: string,
    limit: number | undefined,
    length: number,
  ): WindowSpec[] =>
    limit === undefined ? [] : [{ header, key: `${route} ${header} ${key}`, limit, length }];
  return [
    ...spec('x-rate-limit', whose, user === undefined ? limits.app : limits.user, QUARTER_HOUR),
    ...spec('x-app-limit-24hour', app, limits.appDay, DAY),
    ...(user === undefined ? [] : spec('x-user-limit-24hour', whose, limits.userDay, DAY)),
  ];
}

/** The headers of an injected rate-limit rejection. */
export function spentHeaders(kind: 'window' | 'day', resetAt: number): Record<string, string> {
  const reset = String(Math.ceil(resetAt / 1000));
  if (kind === 'window') return { 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': reset };
  return {
    'x-user-limit-24hour-limit': '100',
    'x-user-limit-24hour-remaining': '0',
    'x-user-limit-24hour-reset': reset,
  };
}

/** A route's rate limits: per app and per user, in fifteen minutes and in a day. */
export interface Limits {
  readonly app?: number;
  readonly user?: number;
  readonly appDay?: number;
  readonly userDay?: number;
}

const both = (app: number, user = app): Limits => ({ app, user });
const perUser = (limit: number): Limits => ({ user: limit });

/** The rate limits that X documents. */
export const documentedLimits = {
  me: perUser(75),
  user: both(300, 900),
  users: both(300, 900),
  'user-by-username': both(300, 900),
  followers: both(300),
  following: both(300),
  'user-posts': both(10_000, 900),
  mentions: both(450, 300),
  home: perUser(180),
  'liked-posts': both(75),
  bookmarks: perUser(180),
  'owned-lists': both(15),
  'list-memberships': both(75),
  post: both(450, 900),
  posts: both(3500, 5000),
  search: both(450, 300),
  'liking-users': both(75),
  list: both(75),
  'list-posts': both(900),
  'list-members': both(900),
  'create-post': { user: 100, appDay: 10_000 },
  'delete-post': perUser(50),
  like: { user: 50, userDay: 1000 },
  unlike: { user: 50, userDay: 1000 },
  follow: perUser(50),
  unfollow: perUser(50),
  repost: perUser(50),
  unrepost: perUser(50),
  bookmark: perUser(50),
  unbookmark: perUser(50),
  'media-upload': { user: 500, appDay: 50_000 },
  'media-initialize': { user: 1875, appDay: 180_000 },
  'media-append': { user: 1875, appDay: 180_000 },
  'media-finalize': { user: 1875, appDay: 180_000 },
  'media-status': perUser(1000),
  'media-metadata': perUser(500),
} as const satisfies Readonly<Record<string, Limits>>;

export type LimitedRoute = keyof typeof documentedLimits;

/** The published prices of billed actions, in US dollars. */
const prices = {
  post: 0.015,
  'post-with-link': 0.2,
  reply: 0.01,
  interaction: 0.015,
  'interaction-delete': 0.01,
  bookmark: 0.005,
  'post-read': 0.005,
  'user-read': 0.01,
  'owned-read': 0.001,
};

export type Charge = keyof typeof prices;

export type Account = ReturnType<typeof createAccount>;

/** The credits of the developer's account. */
export function createAccount(credits = Infinity) {
  let [left, spent] = [credits, 0];
  return {
    credits: () => left,
    setCredits: (dollars: number): void => {
      left = dollars;
    },
    spent: () => spent,
    charge: (charge: Charge, times = 1): void => {
      spent += prices[charge] * times;
      left -= prices[charge] * times;
    },
  };
}
