import type { Attempt } from '../engine/attempt.js';
import type { Layer } from '../engine/layer.js';
import type { CircuitEventType } from '../events.js';
import { checkNumbers } from '../decide/validate.js';
import type { Fault } from '../fault.js';
import { isFailure } from './health.js';

export interface BreakerOptions {
  /** Share of failures in the window, in-flight attempts included, at which the circuit opens. */
  readonly failureShare: number;
  /** Completed attempts in the window that are needed before the circuit can open. */
  readonly minimumAttempts: number;
  readonly windowMs: number;
  /**
   * How long the failure share must persist before the circuit opens, because a burst is not an outage.
   * A timeout opens it immediately: it has already taken long.
   */
  readonly openAfterMs: number;
  /** How long the circuit stays open; doubles after each failed probe, up to `maxOpenMs`. */
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** Attempts that are let through in the half-open state. */
  readonly probes: number;
}

export const defaultBreaker: BreakerOptions = {
  failureShare: 0.8,
  minimumAttempts: 20,
  windowMs: 10_000,
  openAfterMs: 1_000,
  openMs: 1_000,
  maxOpenMs: 20_000,
  probes: 2,
};

export type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * Circuit breaker: rejects attempts while the upstream keeps failing.
 *
 * In-flight attempts count as not failed. Faults arrive faster than successes, so a breaker that only
 * counts completed attempts opens at the start of a burst on an upstream where one call in five fails.
 */
export class Breaker implements Layer {
  readonly name = 'breaker';
  readonly upstream: string;
  readonly #options: BreakerOptions;
  readonly #window: RollingWindow;
  #state: BreakerState = 'closed';
  #inFlight = 0;
  /** Time of the last failure with a share below the threshold. */
  #belowThresholdAt = 0;
  /** When a probe is admitted, on the pipeline's clock. */
  probeAt = 0;
  #openMs: number;
  /** Counts openings, so that a probe of an earlier opening is ignored. */
  #openings = 0;
  #probesLeft = 0;
  #probeFailures = 0;

  constructor(upstream: string, options: BreakerOptions) {
    checkBreaker(options);
    this.upstream = upstream;
    this.#options = options;
    this.#openMs = options.openMs;
    this.#window = new RollingWindow(options.windowMs);
  }

  get state(): BreakerState {
    return this.#state;
  }

  beforeAttempt(attempt: Attempt, now: number): Fault | undefined {
    if (this.#state !== 'closed') return this.#admitProbe(attempt, now);
    this.#inFlight++;
    return undefined;
  }

  afterAttempt(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (attempt.probeOf) return this.#afterProbe(attempt, fault, now);
    this.#inFlight--;
    if (isFailure(fault)) this.#failed(attempt, fault.kind === 'timeout', now);
    else if (isHealthy(fault)) this.#window.add(0, now);
  }

  #failed(attempt: Attempt, timedOut: boolean, now: number): void {
    this.#window.add(1, now);
    const { minimumAttempts, failureShare, openAfterMs } = this.#options;
    const { ended, failures } = this.#window.sum(now);
    // A timeout takes longer than any success, so the successes that started with it have ended.
    const pending = timedOut ? 0 : this.#inFlight;
    if (ended < minimumAttempts || failures < failureShare * (ended + pending)) {
      this.#belowThresholdAt = now;
    } else if (
      this.#state === 'closed' &&
      (timedOut || now - this.#belowThresholdAt >= openAfterMs)
    ) {
      this.#open(attempt, now);
    }
  }

  #open(attempt: Attempt, now: number): void {
    this.#openings++;
    this.probeAt = now + this.#openMs;
    this.#openMs = Math.min(this.#options.maxOpenMs, this.#openMs * 2);
    this.#enter('open', 'circuit_open', attempt, now);
  }

  #admitProbe(attempt: Attempt, now: number): Fault | undefined {
    if (now >= this.probeAt) {
      if (this.#state === 'open') {
        this.#probeFailures = 0;
        this.#enter('half_open', 'circuit_half_open', attempt, now);
      }
      // Probes may never complete, so new ones are allowed after another open period.
      this.#probesLeft = this.#options.probes;
      this.probeAt = now + this.#openMs;
    }
    if (this.#state === 'half_open' && this.#probesLeft) {
      this.#probesLeft--;
      attempt.probeOf = this.#openings;
      return undefined;
    }
    return { kind: 'circuit_open', sent: 'no', retryAfterMs: Math.ceil(this.probeAt - now) };
  }

  /** One successful probe closes the circuit; it reopens when `probes` of them have failed. */
  #afterProbe(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (this.#state !== 'half_open' || attempt.probeOf !== this.#openings) return;
    if (isFailure(fault)) {
      if (++this.#probeFailures >= this.#options.probes) this.#open(attempt, now);
    } else if (isHealthy(fault)) {
      this.#openMs = this.#options.openMs;
      this.#window.clear();
      this.#enter('closed', 'circuit_close', attempt, now);
    } else {
      // A cancelled or rate-limited probe proves nothing, so another attempt may probe.
      this.#probesLeft++;
    }
  }

  #enter(state: BreakerState, type: CircuitEventType, attempt: Attempt, now: number): void {
    this.#state = state;
    attempt.call.emit(now, { type, upstream: this.upstream });
  }
}

/** Whether a result that is no failure shows a working upstream: a success, or an ordinary rejection. */
function isHealthy(fault: Fault | undefined): boolean {
  return !fault || (fault.sent === 'answered' && fault.kind !== 'rate_limited');
}

export function checkBreaker(options: BreakerOptions): void {
  checkNumbers('breaker.', options, {
    failureShare: { above: 0, max: 1 },
    minimumAttempts: { min: 1, integer: true },
    windowMs: { above: 0 },
    openAfterMs: { min: 0 },
    openMs: { above: 0 },
    maxOpenMs: { min: options.openMs },
    probes: { min: 1, integer: true },
  });
}

export function breaker(
  options: Partial<BreakerOptions> & { readonly upstream?: string } = {},
): Breaker {
  const { upstream = 'upstream', ...rest } = options;
  return new Breaker(upstream, { ...defaultBreaker, ...rest });
}

/**
 * Approximate counts of completed and failed attempts in a sliding window. The counts of the previous
 * window are weighted by its remaining overlap, so no list of attempts is needed.
 */
export class RollingWindow {
  readonly #lengthMs: number;
  #until = -Infinity;
  #ended = 0;
  #failures = 0;
  #endedBefore = 0;
  #failuresBefore = 0;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
  }

  add(failures: 0 | 1, now: number): void {
    this.#advance(now);
    this.#ended++;
    this.#failures += failures;
  }

  /** Completed attempts, and failures among them, as of `now`. */
  sum(now: number): { readonly ended: number; readonly failures: number } {
    this.#advance(now);
    const left = (this.#until - now) / this.#lengthMs;
    return {
      ended: this.#ended + this.#endedBefore * left,
      failures: this.#failures + this.#failuresBefore * left,
    };
  }

  clear(): void {
    this.#until = -Infinity;
  }

  #advance(now: number): void {
    if (now < this.#until) return;
    const adjacent = now < this.#until + this.#lengthMs;
    this.#endedBefore = adjacent ? this.#ended : 0;
    this.#failuresBefore = adjacent ? this.#failures : 0;
    this.#ended = 0;
    this.#failures = 0;
    this.#until = (adjacent ? this.#until : now) + this.#lengthMs;
  }
}
