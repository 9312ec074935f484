import type { RateLimitInfo } from '@toolkeel/kernel';
import type { CredentialKind } from './auth/credential.js';

/** The last known state of a rate limit. */
interface KnownWindow {
  readonly endpoint: string;
  readonly credential: CredentialKind;
  /** `15 minutes`, `24h app`, `24h user` or `not stated`. */
  readonly window: string;
  readonly info: RateLimitInfo;
}

/** The window of X's headers without a name. */
const SHORT_WINDOW = '15 minutes';

/** The window of a rejection that states only a time to wait. */
const UNSTATED_WINDOW = 'not stated';

/** Undefined if X did not state the window. */
export function windowName({ name = SHORT_WINDOW }: RateLimitInfo): string | undefined {
  return name === UNSTATED_WINDOW ? undefined : name;
}

type Limits = readonly RateLimitInfo[];
type Login = string | undefined;

/** The known rate limits of all endpoints, by credential. */
export class RateWindows {
  readonly #known = new Map<string, KnownWindow & { readonly login: Login }>();
  readonly #current: (kind: CredentialKind) => Login;

  /** `current` returns the login of a credential kind: windows of an earlier login are dropped. */
  constructor(current: (kind: CredentialKind) => Login) {
    this.#current = current;
  }

  record(endpoint: string, credential: CredentialKind, login: Login, limits: Limits): void {
    for (const info of limits) {
      const window = windowName(info) ?? UNSTATED_WINDOW;
      const one = { endpoint, credential, login, window, info };
      this.#known.set([credential, login, endpoint, window].join(' '), one);
    }
  }

  /** The windows that have not been reset since. */
  list(wallNow: number): readonly KnownWindow[] {
    for (const [key, { info, credential, login }] of this.#known) {
      const isExpired = info.reset * 1000 <= wallNow || login !== this.#current(credential);
      if (isExpired) this.#known.delete(key);
    }
    return [...this.#known.values()].map(({ login: _, ...known }) => known);
  }
}

/** X reports resets in whole seconds. */
const ROUNDING_MS = 1000;

/**
 * Adds an exhausted window to the limits of a rejection, if `Retry-After` is later than the resets of its
 * windows. No request is then sent before that time.
 */
export function withRetryAfter(
  reported: readonly RateLimitInfo[],
  retryAfterMs: number | undefined,
  wallNow: number,
): readonly RateLimitInfo[] {
  const current = reported.filter(({ reset }) => reset * 1000 > wallNow);
  if (retryAfterMs === undefined) return current;
  const until = wallNow + retryAfterMs;
  const isCovered = current.some(
    ({ remaining, reset }) => remaining <= 0 && reset * 1000 + ROUNDING_MS >= until,
  );
  if (isCovered) return current;
  const named = current.filter(({ name }) => name !== undefined);
  // Not rounded, so that a request exactly at that time is sent.
  const reset = until / 1000;
  return [...named, { limit: 0, remaining: 0, reset, limitUnknown: true, name: UNSTATED_WINDOW }];
}

/** The latest reset of the exhausted windows. */
export function latestReset(limits: readonly RateLimitInfo[]): Date | undefined {
  const resets = limits.filter(({ remaining }) => remaining <= 0).map(({ reset }) => reset);
  const moment = new Date(Math.max(...resets) * 1000);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
