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
  /** The pause between the end of a mutation and the next one. 0 also allows concurrent mutations. */
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

/**
 * Holds back the requests of one credential on one host. One rate-limit answer closes it for all further
 * requests of that credential in the process, whichever client sends them.
 */
export class RateGate {
  readonly #budgets = new BoundedMap<RateLimitInfo>(MAX_BUDGETS);
  /** Until when GitHub refuses a resource. Kept apart, because a late answer reports an older budget. */
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
  #nextMutationAt = 0;
  #mutations: Promise<unknown> = Promise.resolve();
  #queued = 0;

  /**
   * Waits until the request may be sent, and returns a function to call when it has ended. Throws a
   * `rate_limited` fault at once, without waiting, if GitHub's limit or the pacing does not allow the
   * request before the deadline.
   */
  async admit(cost: Cost, options: AdmitOptions): Promise<() => void> {
    this.#refuseWhileClosed(cost, options.clock.wallNow());
    if (cost.isMutation && options.pacing.mutationIntervalMs > 0)
      return this.#serialized(cost, options);
    return this.#paced(cost, options);
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
    { endpoint, resource }: Omit<Cost, 'isMutation' | 'createsContent'>,
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
  nextSecondaryWait(wallNow: number): number {
    if (this.#blockedUntil > wallNow) return this.#blockedUntil - wallNow;
    const wait =
      SECONDARY_WAITS_MS[Math.min(this.#strikes, SECONDARY_WAITS_MS.length - 1)] ?? MINUTE;
    this.#strikes += 1;
    return wait;
  }

  /** Closes the gate: for one resource, or for all after a secondary limit. */
  block(until: number, resource?: string): void {
    if (resource === undefined) this.#blockedUntil = Math.max(this.#blockedUntil, until);
    else {
      const { limit = 0 } = this.#budgets.get(resource) ?? {};
      this.#budgets.set(resource, { limit, remaining: 0, reset: until / 1000, name: resource });
      this.#closedUntil.set(resource, Math.max(this.#closedUntil.get(resource) ?? 0, until));
    }
  }

  status(wallNow: number): GateStatus {
    const budgets = [...this.#budgets]
      .filter(([, { reset }]) => reset * 1000 > wallNow)
      .map(([resource, info]) => ({ ...info, resource }));
    return {
      budgets,
      ...(this.#blockedUntil > wallNow && { blockedUntil: this.#blockedUntil }),
    };
  }

  #resourceOf({ endpoint, resource }: Cost): string {
    return this.#resources.get(endpoint) ?? resource;
  }

  #refuseWhileClosed(cost: Cost, wallNow: number): void {
    const blockedMs = this.#blockedUntil - wallNow;
    if (blockedMs > 0) throw limited(blockedMs, []);
    const resource = this.#resourceOf(cost);
    const budget = this.#budgets.get(resource);
    const until = this.#closedUntil.get(resource) ?? 0;
    if (until > wallNow) {
      const limits = budget ? [{ ...budget, remaining: 0, reset: until / 1000 }] : [];
      throw limited(until - wallNow, limits);
    }
    if (!budget) return;
    const untilReset = calculateRateLimitDelay(budget.reset, wallNow);
    if (untilReset === 0) this.#budgets.delete(resource);
    else if (budget.remaining - (this.#pending.get(resource) ?? 0) <= 0)
      throw limited(untilReset, [{ ...budget, remaining: 0 }]);
  }

  /** One mutation after another, with the interval between them. */
  async #serialized(cost: Cost, options: AdmitOptions): Promise<() => void> {
    const { pacing, clock, deadline } = options;
    const expected =
      this.#nextMutationAt - clock.wallNow() + this.#queued * pacing.mutationIntervalMs;
    if (clock.now() + expected >= deadline) throw limited(expected, []);
    this.#queued += 1;
    const before = this.#mutations;
    let open = (): void => undefined;
    this.#mutations = new Promise<void>((resolve) => {
      open = resolve;
    });
    try {
      await untilAborted(before, options.signal);
      await wait(options, this.#nextMutationAt - clock.wallNow(), true);
      const release = await this.#paced(cost, options);
      return () => {
        release();
        this.#nextMutationAt = clock.wallNow() + pacing.mutationIntervalMs;
        open();
      };
    } catch (cause) {
      // The next one still waits for those before this one.
      void before.then(open, open);
      throw cause;
    } finally {
      this.#queued -= 1;
    }
  }

  async #paced(cost: Cost, options: AdmitOptions): Promise<() => void> {
    const { pacing, clock } = options;
    const wallNow = clock.wallNow();
    const delay = this.#paceDelay(cost, pacing, wallNow);
    refuseLate(options, delay);
    // Reserved before the wait, because requests that wait together would all find the same room.
    const cancel = this.#reserve(cost, wallNow, delay);
    const resource = this.#resourceOf(cost);
    try {
      await wait(options, delay, true);
      await wait(options, this.#slowdown(resource, pacing, clock.wallNow()));
      while (this.#inFlight >= pacing.maxConcurrent) await this.#slot(options.signal);
      // GitHub may have answered others with a limit meanwhile.
      this.#refuseWhileClosed(cost, clock.wallNow());
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

  /** The delay until the documented points and content creations have room. */
  #paceDelay(cost: Cost, pacing: Pacing, wallNow: number): number {
    const perMinute =
      cost.resource === 'graphql' ? pacing.graphqlPointsPerMinute : pacing.pointsPerMinute;
    const delays = [this.#delayFor(cost.endpoint, pointsOf(cost), perMinute, MINUTE, wallNow)];
    if (cost.createsContent) {
      delays.push(
        this.#delayFor('content', 1, pacing.contentPerMinute, MINUTE, wallNow),
        this.#delayFor('content', 1, pacing.contentPerHour, HOUR, wallNow),
      );
    }
    return Math.max(...delays);
  }

  #delayFor(key: string, points: number, limit: number, window: number, wallNow: number): number {
    const spent = (this.#spent.get(key) ?? []).filter(({ at }) => at > wallNow - window);
    let total = spent.reduce((sum, one) => sum + one.points, 0) + points;
    for (const { at, points: freed } of spent) {
      if (total <= limit) return 0;
      total -= freed;
      if (total <= limit) return at + window - wallNow;
    }
    return 0;
  }

  /** Counts a request at the time when it may be sent. Returns a function that takes it back. */
  #reserve(cost: Cost, wallNow: number, delay: number): () => void {
    const add = (key: string, points: number, window: number): (() => void) => {
      const own = { at: wallNow + delay, points };
      const kept = (this.#spent.get(key) ?? []).filter((one) => one.at > wallNow - window);
      this.#spent.set(
        key,
        [...kept, own].toSorted((one, other) => one.at - other.at),
      );
      return () => {
        const others = (this.#spent.get(key) ?? []).filter((one) => one !== own);
        this.#spent.set(key, others);
      };
    };
    const cancels = [add(cost.endpoint, pointsOf(cost), MINUTE)];
    if (cost.createsContent) cancels.push(add('content', 1, HOUR));
    return () => cancels.forEach((cancel) => cancel());
  }

  /** Spreads the last requests of a window over the time that is left of it. */
  #slowdown(resource: string, { threshold }: Pacing, wallNow: number): number {
    const budget = this.#budgets.get(resource);
    const untilReset = budget && checkRateLimit(budget, threshold, wallNow);
    if (!budget || untilReset === undefined || budget.remaining === 0) return 0;
    return Math.min(MAX_SLOWDOWN_MS, untilReset / (budget.remaining + 1));
  }
}

const pointsOf = ({ isMutation }: Cost): number => (isMutation ? 5 : 1);

function limited(retryAfterMs: number, limits: readonly RateLimitInfo[]): FaultError {
  return new FaultError({ kind: 'rate_limited', sent: 'no', retryAfterMs, limits });
}

function refuseLate({ clock, deadline }: AdmitOptions, ms: number): void {
  if (ms > 0 && ms >= deadline - clock.now()) throw limited(ms, []);
}

/** Waits; a mandatory wait that does not fit the deadline is a fault instead, a courtesy is cut short. */
async function wait(options: AdmitOptions, ms: number, isMandatory = false): Promise<void> {
  if (!(ms > 0)) return;
  const { clock, signal, deadline } = options;
  if (isMandatory) refuseLate(options, ms);
  await pause(clock, isMandatory ? ms : Math.min(ms, (deadline - clock.now()) / 2), signal);
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
