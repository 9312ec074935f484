import {
  calculateRateLimitDelay,
  checkRateLimit,
  FaultError,
  type Clock,
  type RateLimitInfo,
} from '@toolkeel/kernel';
import { BoundedMap, pause } from '@toolkeel/pack-kit';
import { untilAborted } from './credentials.js';

/** GitHub's documented guidance. Every number can be changed, because GitHub changes them without notice. */
export interface Pacing {
  /** Points per minute and endpoint: 1 for a read, 5 for a write. */
  readonly pointsPerMinute: number;
  /** Points per minute for GraphQL: 1 for a query, 5 for a mutation. */
  readonly graphqlPointsPerMinute: number;
  readonly contentPerMinute: number;
  readonly contentPerHour: number;
  readonly maxConcurrent: number;
  /** The time from the start of a mutation to that of the next one. 0: none. */
  readonly mutationIntervalMs: number;
  /** Requests are spread out when fewer than this many remain. */
  readonly threshold: number;
}

export const documentedPacing: Pacing = Object.freeze({
  pointsPerMinute: 900,
  graphqlPointsPerMinute: 2000,
  contentPerMinute: 80,
  contentPerHour: 500,
  maxConcurrent: 100,
  mutationIntervalMs: 1000,
  threshold: 10,
});

/** What a request costs. */
export interface Cost {
  /** GitHub's name of the budget: core, search, code_search, graphql. */
  readonly resource: string;
  /** Method and path template: points are counted per endpoint. */
  readonly endpoint: string;
  readonly isMutation: boolean;
  readonly createsContent: boolean;
  /** A mutation that is not visible to others, which needs no pause. */
  readonly isUnseen?: boolean;
}

export interface AdmitOptions {
  readonly pacing: Pacing;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** On the clock's monotonic time. */
  readonly deadline: number;
}

/** The state of one budget, from memory. */
export interface BudgetStatus extends RateLimitInfo {
  readonly resource: string;
}

export interface GateStatus {
  readonly budgets: readonly BudgetStatus[];
  /** Until when GitHub asked this credential to send nothing, in epoch milliseconds. */
  readonly blockedUntil?: number;
  /** Until when our own pacing has planned mutations, in epoch milliseconds. */
  readonly plannedUntil?: number;
}

/** Why a request was refused that GitHub would have accepted: the setting of {@link Pacing}. */
export class PacingError extends Error {
  readonly setting: keyof Pacing;

  constructor(setting: keyof Pacing) {
    super(`pacing: ${setting}`);
    this.setting = setting;
  }
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The longest delay that is not GitHub's demand but our courtesy. */
const MAX_SLOWDOWN_MS = 5_000;
/** More endpoints and budgets than a process uses. GitHub and callers name them, so they are bounded. */
const MAX_ENDPOINTS = 2000;
const MAX_BUDGETS = 100;
/** Without any hint: at least a minute, then exponentially. */
const SECONDARY_WAITS_MS = [60_000, 120_000, 240_000] as const;

interface Spent {
  readonly at: number;
  readonly points: number;
}

/** At most `limit` points in any `ms` milliseconds. */
interface Window {
  readonly key: string;
  readonly points: number;
  readonly limit: number;
  readonly ms: number;
  readonly setting: keyof Pacing;
}

const MUTATIONS = 'mutations';

function windowsOf(cost: Cost, pacing: Pacing): readonly Window[] {
  const minute = (key: string, setting: keyof Pacing, points: number): Window => ({
    key,
    points,
    limit: pacing[setting],
    ms: MINUTE,
    setting,
  });
  const { endpoint, resource, isMutation, createsContent, isUnseen = false } = cost;
  const { contentPerHour, mutationIntervalMs } = pacing;
  const perMinute = resource === 'graphql' ? 'graphqlPointsPerMinute' : 'pointsPerMinute';
  const windows = [minute(endpoint, perMinute, isMutation ? 5 : 1)];
  if (createsContent)
    windows.push(minute('content a minute', 'contentPerMinute', 1), {
      key: 'content an hour',
      points: 1,
      limit: contentPerHour,
      ms: HOUR,
      setting: 'contentPerHour',
    });
  if (isMutation && !isUnseen && mutationIntervalMs > 0)
    windows.push({
      key: MUTATIONS,
      points: 1,
      limit: 1,
      ms: mutationIntervalMs,
      setting: 'mutationIntervalMs',
    });
  return windows;
}

/**
 * Holds back the requests of one credential on one host. One rate-limit answer closes it for all further
 * requests of that credential in the process, whichever client sends them.
 */
export class RateGate {
  readonly #budgets = new BoundedMap<RateLimitInfo>(MAX_BUDGETS);
  /**
   * Until when GitHub refuses a resource, on the monotonic clock. Kept apart, because a late answer reports
   * an older budget.
   */
  readonly #closedUntil = new BoundedMap<number>(MAX_BUDGETS);
  /** The resource that GitHub counts an endpoint against, where it is not the expected one. */
  readonly #resources = new BoundedMap<string>(MAX_ENDPOINTS);
  /** Requests in flight by resource: they count against `remaining` before their answer arrives. */
  readonly #pending = new BoundedMap<number>(MAX_BUDGETS);
  readonly #spent = new BoundedMap<readonly Spent[]>(MAX_ENDPOINTS);
  #waiting: (() => void)[] = [];
  #blockedUntil = 0;
  #strikes = 0;
  #inFlight = 0;

  /**
   * Waits until the request may be sent, and returns a function to call when it has ended. Throws a
   * `rate_limited` fault at once, without waiting, if GitHub's limit or the pacing does not allow the
   * request before the deadline.
   */
  async admit(cost: Cost, { pacing, clock, signal, deadline }: AdmitOptions): Promise<() => void> {
    this.refuseWhileClosed(cost, clock);
    const now = clock.now();
    const windows = windowsOf(cost, pacing);
    const delays = windows.map((window) => ({ ...window, ms: this.#delayFor(window, now) }));
    const { ms, setting } = delays.reduce((one, other) => (other.ms > one.ms ? other : one));
    if (ms > 0 && now + ms >= deadline) throw limited(ms, [], new PacingError(setting));
    const resource = this.#resourceOf(cost);
    const courtesy = Math.min(this.#slowdown(resource, pacing, clock), (deadline - now) / 2);
    const delay = Math.max(ms, courtesy);
    // Reserved before the wait, because requests that wait together would all find the same room.
    const cancel = this.#reserve(windows, now, now + delay);
    try {
      if (delay > 0) await pause(clock, delay, signal);
      while (this.#inFlight >= pacing.maxConcurrent) await this.#slot(signal);
      // GitHub may have answered others with a limit meanwhile.
      this.refuseWhileClosed(cost, clock);
    } catch (cause) {
      cancel();
      // A waiter that gives up does not keep the slot that it was woken for.
      this.#waiting.shift()?.();
      throw cause;
    }
    this.#inFlight += 1;
    this.#pending.set(resource, (this.#pending.get(resource) ?? 0) + 1);
    return () => {
      this.#inFlight -= 1;
      this.#pending.set(resource, (this.#pending.get(resource) ?? 1) - 1);
      this.#waiting.shift()?.();
    };
  }

  /** Records the budgets that a response reports. */
  record(limits: readonly RateLimitInfo[], cost: Pick<Cost, 'endpoint' | 'resource'>): void {
    this.learn(limits, cost);
    for (const info of limits) {
      const name = info.name ?? cost.resource;
      const known = this.#budgets.get(name);
      // Answers can overtake each other: within a window, the lowest count is the latest.
      const isSameWindow = known !== undefined && Math.abs(known.reset - info.reset) <= 1;
      const remaining = isSameWindow ? Math.min(known.remaining, info.remaining) : info.remaining;
      this.#budgets.set(name, { ...info, remaining });
    }
  }

  /** Learns which resource an endpoint is counted against. */
  learn(
    [first]: readonly RateLimitInfo[],
    { endpoint, resource }: Pick<Cost, 'endpoint' | 'resource'>,
  ): void {
    if (first?.name !== undefined && first.name !== resource)
      this.#resources.set(endpoint, first.name);
  }

  /** A success ends the sequence of secondary limits. */
  recordSuccess(): void {
    this.#strikes = 0;
  }

  /**
   * The wait after a limit without any hint: 60, 120, 240 s. Requests that were in flight together are
   * refused together, which is one limit.
   */
  nextSecondaryWait(now: number): number {
    if (this.#blockedUntil > now) return this.#blockedUntil - now;
    const wait =
      SECONDARY_WAITS_MS[Math.min(this.#strikes, SECONDARY_WAITS_MS.length - 1)] ?? MINUTE;
    this.#strikes += 1;
    return wait;
  }

  /** Closes the gate: for one resource, or for all after a secondary limit. */
  block(ms: number, clock: Clock, resource?: string): void {
    const until = clock.now() + ms;
    if (resource === undefined) this.#blockedUntil = Math.max(this.#blockedUntil, until);
    else {
      const { limit = 0 } = this.#budgets.get(resource) ?? {};
      const reset = (clock.wallNow() + ms) / 1000;
      this.#budgets.set(resource, { limit, remaining: 0, reset, name: resource });
      this.#closedUntil.set(resource, Math.max(this.#closedUntil.get(resource) ?? 0, until));
    }
  }

  status(clock: Clock): GateStatus {
    const [now, wallNow] = [clock.now(), clock.wallNow()];
    const budgets = [...this.#budgets]
      .filter(([, { reset }]) => reset * 1000 > wallNow)
      .map(([resource, info]) => ({ ...info, resource }));
    const planned = this.#spent.get(MUTATIONS)?.at(-1)?.at ?? 0;
    return {
      budgets,
      ...(this.#blockedUntil > now && { blockedUntil: wallNow + this.#blockedUntil - now }),
      ...(planned > now && { plannedUntil: wallNow + planned - now }),
    };
  }

  #resourceOf({ endpoint, resource }: Cost): string {
    return this.#resources.get(endpoint) ?? resource;
  }

  /** Throws if GitHub's limits do not allow the request now. */
  refuseWhileClosed(cost: Cost, clock: Clock): void {
    const [now, wallNow] = [clock.now(), clock.wallNow()];
    const blockedMs = this.#blockedUntil - now;
    if (blockedMs > 0) throw limited(blockedMs, []);
    const resource = this.#resourceOf(cost);
    const budget = this.#budgets.get(resource);
    const closedMs = (this.#closedUntil.get(resource) ?? 0) - now;
    if (closedMs > 0) {
      const reset = (wallNow + closedMs) / 1000;
      throw limited(closedMs, budget ? [{ ...budget, remaining: 0, reset }] : []);
    }
    if (!budget) return;
    const untilReset = calculateRateLimitDelay(budget.reset, wallNow);
    if (untilReset === 0) this.#budgets.delete(resource);
    else if (budget.remaining - (this.#pending.get(resource) ?? 0) <= 0)
      throw limited(untilReset, [{ ...budget, remaining: 0 }]);
  }

  /** Waits until a request in flight ends. */
  async #slot(signal: AbortSignal): Promise<void> {
    let wake = (): void => undefined;
    const freed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#waiting.push(wake);
    try {
      await untilAborted(freed, signal);
    } finally {
      this.#waiting = this.#waiting.filter((one) => one !== wake);
    }
  }

  /** The delay until a window has room. */
  #delayFor({ key, points, limit, ms }: Window, now: number): number {
    const spent = (this.#spent.get(key) ?? []).filter(({ at }) => at > now - ms);
    let total = spent.reduce((sum, one) => sum + one.points, 0) + points;
    for (const { at, points: freed } of spent) {
      if (total <= limit) return 0;
      total -= freed;
      if (total <= limit) return at + ms - now;
    }
    return 0;
  }

  /** Counts a request at the time when it may be sent. Returns a function that takes it back. */
  #reserve(windows: readonly Window[], now: number, at: number): () => void {
    const cancels = windows.map(({ key, points, ms }) => {
      const own = { at, points };
      const kept = (this.#spent.get(key) ?? []).filter((one) => one.at > now - ms);
      this.#spent.set(
        key,
        [...kept, own].toSorted((one, other) => one.at - other.at),
      );
      return () => {
        const others = (this.#spent.get(key) ?? []).filter((one) => one !== own);
        this.#spent.set(key, others);
      };
    });
    return () => cancels.forEach((cancel) => cancel());
  }

  /** Spreads the last requests of a window over the time that is left of it. */
  #slowdown(resource: string, { threshold }: Pacing, clock: Clock): number {
    const budget = this.#budgets.get(resource);
    const untilReset = budget && checkRateLimit(budget, threshold, clock.wallNow());
    if (!budget || untilReset === undefined || budget.remaining === 0) return 0;
    return Math.min(MAX_SLOWDOWN_MS, untilReset / (budget.remaining + 1));
  }
}

function limited(
  retryAfterMs: number,
  limits: readonly RateLimitInfo[],
  cause?: PacingError,
): FaultError {
  const fault = { kind: 'rate_limited', sent: 'no', retryAfterMs, limits } as const;
  return new FaultError({ ...fault, ...(cause && { cause }) });
}

/** More credentials than one process uses at a time. */
const gates = new BoundedMap<RateGate>(1000);

/** The gate of a credential: shared by all clients of the process. `credential` is not a secret. */
export function gateOf(host: string, credential: string): RateGate {
  const key = `${host} ${credential}`;
  const gate = gates.get(key) ?? new RateGate();
  gates.set(key, gate);
  return gate;
}
