import type { RateLimitInfo } from '@toolkeel/kernel';

type Limits = readonly RateLimitInfo[];

/** The name of a window for which the upstream states only a time to wait. */
const UNSTATED_WINDOW = 'not stated';

/** The name of a window; undefined if the upstream did not state the window. */
export function windowName({ name }: RateLimitInfo, unnamed: string): string | undefined {
  return name === UNSTATED_WINDOW ? undefined : (name ?? unnamed);
}

/** The last known rate limits of an upstream, with what each applies to. */
export class RateWindows<About extends object> {
  readonly #known = new Map<
    string,
    About & { readonly window: string; readonly info: RateLimitInfo }
  >();
  readonly #unnamed: string;
  readonly #isCurrent: (about: About) => boolean;

  /** `unnamed` is the window of headers that name none. Windows that are no longer current are dropped. */
  constructor(unnamed: string, isCurrent: (about: About) => boolean = () => true) {
    this.#unnamed = unnamed;
    this.#isCurrent = isCurrent;
  }

  record(about: About, limits: Limits): void {
    for (const info of limits) {
      const window = windowName(info, this.#unnamed) ?? UNSTATED_WINDOW;
      this.#known.set(JSON.stringify([about, window]), { ...about, window, info });
    }
  }

  /** The windows that have not been reset since. */
  list(wallNow: number) {
    for (const [key, known] of this.#known) {
      if (known.info.reset * 1000 <= wallNow || !this.#isCurrent(known)) this.#known.delete(key);
    }
    return [...this.#known.values()];
  }
}

/** Upstreams report resets in whole seconds. */
const ROUNDING_MS = 1000;

/**
 * Adds an exhausted window to the limits of a rejection, if `Retry-After` is later than the resets of its
 * windows. No request is then sent before that time.
 */
export function withRetryAfter(
  reported: Limits,
  retryAfterMs: number | undefined,
  wallNow: number,
): Limits {
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
export function latestReset(limits: Limits): Date | undefined {
  const resets = limits.filter(({ remaining }) => remaining <= 0).map(({ reset }) => reset);
  const moment = new Date(Math.max(...resets) * 1000);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
