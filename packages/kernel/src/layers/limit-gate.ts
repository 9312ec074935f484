import { calculateRateLimitDelay, type RateLimitInfo } from '../decide/rate-limit.js';
import type { Attempt } from '../engine/attempt.js';
import type { Layer, LoopSettings } from '../engine/layer.js';
import type { Fault } from '../fault.js';

/** More windows than any real upstream reports. */
const MAX_WINDOWS = 256;

/** A window of a rate limit, and the route that reported it if it has a name. */
export type ReportedLimit = RateLimitInfo & { readonly route?: string };

/**
 * Rejects attempts while a rate limit that the upstream reported is exhausted. A success that reports
 * `remaining: 0` stays a success and closes the gate for the next request.
 *
 * Upstreams count per endpoint or resource, so a limit applies to the route that reported it. Calls
 * without a route share one gate.
 */
export class LimitGate implements Layer {
  readonly name = 'limitGate';
  readonly loop: LoopSettings = { gate: this };
  /** The windows last reported, by route and name. */
  readonly #reported = new Map<string, ReportedLimit>();
  /** Exhausted windows by route and name. */
  readonly #routes = new Map<string, Map<string, RateLimitInfo>>();

  report(limits: readonly RateLimitInfo[], wallNow: number, route = ''): void {
    for (const limit of limits) {
      const name = limit.name ?? '';
      this.#remember(route, name, limit);
      const shut = limit.remaining <= 0 && calculateRateLimitDelay(limit.reset, wallNow) > 0;
      if (shut) this.#shut(route, name, limit);
      else this.#open(route, name);
    }
  }

  beforeAttempt(attempt: Attempt): Fault | undefined {
    if (this.#routes.size === 0) return undefined;
    const route = attempt.call.route ?? '';
    const windows = this.#routes.get(route);
    if (windows === undefined) return undefined;
    const wallNow = attempt.call.plan.clock.wallNow();
    let retryAfterMs = 0;
    for (const [name, limit] of windows) {
      const delay = calculateRateLimitDelay(limit.reset, wallNow);
      if (delay > 0) retryAfterMs = Math.max(retryAfterMs, delay);
      else this.#open(route, name);
    }
    if (retryAfterMs === 0) return undefined;
    return { kind: 'rate_limited', sent: 'no', retryAfterMs, limits: [...windows.values()] };
  }

  afterAttempt(attempt: Attempt, fault: Fault | undefined): void {
    if (fault?.limits !== undefined) attempt.reportLimits(fault.limits);
  }

  /** The windows that the upstream reported last and that have not reset yet. */
  reported(wallNow: number): readonly ReportedLimit[] {
    return [...this.#reported.values()].filter(
      ({ reset }) => calculateRateLimitDelay(reset, wallNow) > 0,
    );
  }

  #remember(route: string, name: string, limit: RateLimitInfo): void {
    const key = `${route} ${name}`;
    if (this.#reported.size >= MAX_WINDOWS && !this.#reported.has(key)) this.#reported.clear();
    this.#reported.set(key, route === '' ? limit : { ...limit, route });
  }

  #shut(route: string, name: string, limit: RateLimitInfo): void {
    const windows = this.#routes.get(route) ?? new Map<string, RateLimitInfo>();
    if (windows.size < MAX_WINDOWS) this.#routes.set(route, windows.set(name, limit));
    // Evicts the oldest route, whose window has most likely reset.
    for (const oldest of this.#routes.keys()) {
      if (this.#routes.size <= MAX_WINDOWS) break;
      this.#routes.delete(oldest);
    }
  }

  #open(route: string, name: string): void {
    const windows = this.#routes.get(route);
    if (windows?.delete(name) && windows.size === 0) this.#routes.delete(route);
  }
}

export function limitGate(): LimitGate {
  return new LimitGate();
}
