import type { LogEntry } from '@toolkeel/sandbox';

/** A request as the upstream saw it, and at which of the arm's upstreams. */
export interface Arrival {
  readonly upstream: number;
  readonly entry: LogEntry;
}

export function arrivals(logs: readonly (readonly LogEntry[])[]): Arrival[] {
  return logs.flatMap((entries, upstream) => entries.map((entry) => ({ upstream, entry })));
}

/** The same for requests that ask the same of the same upstream. */
export function keyOf({ upstream, entry }: Arrival): string {
  return `${upstream}/${entry.fingerprint}`;
}

/** What the upstreams know of one call. */
export interface Seen {
  /** Everything that arrived for it, retries included. */
  readonly requests: number;
  /** How many different requests. */
  readonly distinct: number;
  /** Those of them that were answered undisturbed at least once. */
  readonly answered: number;
  /** The most that arrived of one of them. */
  readonly mostAttempts: number;
  /** The most that arrived of one that was never answered undisturbed. */
  readonly attemptsInVain: number;
  /** Attempts beyond the first at each request. */
  readonly extra: number;
  /** What its requests would have taken undisturbed, all together. */
  readonly latencyMs: number;
}

export function seenOf(all: readonly Arrival[]): Seen {
  const counts = new Map<string, number>();
  for (const arrival of all) counts.set(keyOf(arrival), (counts.get(keyOf(arrival)) ?? 0) + 1);
  const undisturbed = all.filter(({ entry }) => entry.fault === null);
  const answered = new Set(undisturbed.map(keyOf));
  const inVain = [...counts].flatMap(([key, count]) => (answered.has(key) ? [] : [count]));
  const attempts = all.filter(({ entry }) => !isRedirect(entry)).length;
  return {
    requests: all.length,
    distinct: counts.size,
    answered: answered.size,
    mostAttempts: Math.max(0, ...counts.values()),
    attemptsInVain: Math.max(0, ...inVain),
    extra: attempts - new Set(all.map(exchangeOf)).size,
    latencyMs: all.reduce((sum, { entry }) => sum + entry.latencyMs, 0),
  };
}

/** An attempt that is sent elsewhere is one attempt and two requests, of which the last stands for it. */
function isRedirect({ status, fault }: LogEntry): boolean {
  const moved = status !== null && status >= 301 && status <= 308 && status !== 304;
  return moved && fault === null;
}

/** Equal for the parts of one attempt: an asset is moved within its path. */
function exchangeOf(arrival: Arrival): string {
  const { upstream, entry } = arrival;
  return entry.route === 'asset' ? `${upstream}${entry.path}` : keyOf(arrival);
}
