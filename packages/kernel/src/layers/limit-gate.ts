import { calculateRateLimitDelay, type RateLimitInfo } from '../decide/rate-limit.js';
import type { Attempt } from '../engine/attempt.js';
import type { Layer, LoopSettings } from '../engine/layer.js';
import type { Fault } from '../fault.js';

/** As many windows as any upstream has; more would be made up. */
const MAX_WINDOWS = 16;

/**
 * Holds a request back that the upstream has already said it will refuse. An answer with nothing
 * remaining is still an answer; it is the next request that has to wait.
 */
export class LimitGate implements Layer {
  readonly name = 'limitGate';
  readonly loop: LoopSettings = { gate: this };
  /** Exhausted windows by name, each with its reset. Empty nearly always. */
  readonly #exhausted = new Map<string, RateLimitInfo>();

  report(limits: readonly RateLimitInfo[], wallNow: number): void {
    for (const limit of limits) {
      const name = limit.name ?? '';
      const shut = limit.remaining <= 0 && calculateRateLimitDelay(limit.reset, wallNow) > 0;
      if (!shut) this.#exhausted.delete(name);
      else if (this.#exhausted.size < MAX_WINDOWS) this.#exhausted.set(name, limit);
    }
  }

  before(attempt: Attempt): Fault | undefined {
    if (this.#exhausted.size === 0) return undefined;
    const wallNow = attempt.call.plan.clock.wallNow();
    let retryAfterMs = 0;
    for (const [name, limit] of this.#exhausted) {
      const delay = calculateRateLimitDelay(limit.reset, wallNow);
      if (delay > 0) retryAfterMs = Math.max(retryAfterMs, delay);
      else this.#exhausted.delete(name);
    }
    if (retryAfterMs === 0) return undefined;
    return {
      kind: 'rate_limited',
      sent: 'no',
      retryAfterMs,
      limits: [...this.#exhausted.values()],
    };
  }

  after(attempt: Attempt, fault: Fault | undefined): void {
    if (fault?.limits !== undefined) this.report(fault.limits, attempt.call.plan.clock.wallNow());
  }
}

export function limitGate(): LimitGate {
  return new LimitGate();
}
