import type { Clock } from '../server/clock.js';

export type Resource = 'core' | 'search' | 'code_search' | 'graphql';

/** Requests (points for GraphQL) in a window. */
export type PrimaryLimits = Readonly<Record<Resource, number>>;

const documentedPrimary: PrimaryLimits = {
  core: 5000,
  search: 30,
  code_search: 10,
  graphql: 5000,
};

export interface SecondaryLimits {
  /** Points per minute and endpoint: 1 for a read, 5 for a write. */
  readonly pointsPerMinute: number;
  readonly contentPerMinute: number;
  readonly contentPerHour: number;
  /** Seconds in `Retry-After`; undefined sends no header, as observed in the field. */
  readonly retryAfter?: number | undefined;
}

export const documentedSecondary: SecondaryLimits = {
  pointsPerMinute: 900,
  contentPerMinute: 80,
  contentPerHour: 500,
  retryAfter: 60,
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const windowLength = (resource: Resource): number =>
  resource === 'core' || resource === 'graphql' ? HOUR : MINUTE;

interface Window {
  readonly until: number;
  used: number;
}

export type RateLimits = ReturnType<typeof createLimits>;

interface RouteCost {
  readonly name: string;
  readonly isWrite: boolean;
  readonly createsContent: boolean;
}

export function createLimits(
  clock: Clock,
  given: Partial<PrimaryLimits>,
  secondary: SecondaryLimits,
) {
  let limits: PrimaryLimits = { ...documentedPrimary, ...given };
  const windows = new Map<string, Window>();
  const spent = new Map<string, { readonly at: number; readonly points: number }[]>();

  const windowOf = (account: string, resource: Resource): Window => {
    const key = `${account} ${resource}`;
    const known = windows.get(key);
    if (known && known.until > clock.now()) return known;
    const opened = { until: clock.now() + windowLength(resource), used: 0 };
    windows.set(key, opened);
    return opened;
  };
  const peek = (account: string, resource: Resource) => {
    const { used, until } = windowOf(account, resource);
    const limit = limits[resource];
    return { limit, used, remaining: Math.max(0, limit - used), reset: Math.ceil(until / 1000) };
  };
  const headersOf = (account: string, resource: Resource): Record<string, string> => {
    const { limit, used, remaining, reset } = peek(account, resource);
    return {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(reset),
      'x-ratelimit-resource': resource,
    };
  };
  const total = (key: string, within: number): number => {
    const kept = (spent.get(key) ?? []).filter(({ at }) => at > clock.now() - within);
    spent.set(key, kept);
    return kept.reduce((sum, { points }) => sum + points, 0);
  };
  const spend = (key: string, points: number): void => {
    spent.set(key, [...(spent.get(key) ?? []), { at: clock.now(), points }]);
  };
  return {
    primary: (account: string, resource: Resource, cost = 1) => {
      const window = windowOf(account, resource);
      const allowed = window.used + cost <= limits[resource];
      if (allowed) window.used += cost;
      return {
        allowed,
        headers: headersOf(account, resource),
        /** Makes the request free, as a 304 is. */
        refund: () => {
          window.used -= cost;
          return headersOf(account, resource);
        },
      };
    },
    peek,
    /** Whether the secondary limits allow the request. */
    secondary: (account: string, { name, isWrite, createsContent }: RouteCost): boolean => {
      const perMinute = `${account} points ${name}`;
      const [minute, hour] = [`${account} content minute`, `${account} content hour`];
      const points = isWrite ? 5 : 1;
      const allowed =
        total(perMinute, MINUTE) + points <= secondary.pointsPerMinute &&
        (!createsContent ||
          (total(minute, MINUTE) < secondary.contentPerMinute &&
            total(hour, HOUR) < secondary.contentPerHour));
      if (!allowed) return false;
      spend(perMinute, points);
      if (createsContent) for (const key of [minute, hour]) spend(key, 1);
      return true;
    },
    setPrimary: (changed: Partial<PrimaryLimits>): void => {
      limits = { ...limits, ...changed };
    },
    retryAfter: secondary.retryAfter,
  };
}
