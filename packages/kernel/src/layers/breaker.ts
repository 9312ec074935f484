import type { Attempt } from '../engine/attempt.js';
import type { Layer } from '../engine/layer.js';
import { checkBreaker } from '../decide/validate.js';
import type { Fault } from '../fault.js';
import { isFailure } from '../upstream/health.js';
import { RollingWindow } from '../upstream/rolling-window.js';

export interface BreakerOptions {
  /** Opens at this share of failures among the attempts of the window, those under way included. */
  readonly failureShare: number;
  /** … and not before this many attempts of the window have ended. */
  readonly minimumAttempts: number;
  readonly windowMs: number;
  /** How long it stays open at first; twice as long after each failed probing. */
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** How many attempts are let through to see whether the upstream has recovered. */
  readonly probes: number;
}

export const defaultBreaker: BreakerOptions = {
  failureShare: 0.7,
  minimumAttempts: 20,
  windowMs: 10_000,
  openMs: 10_000,
  maxOpenMs: 60_000,
  probes: 3,
};

export type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * Spares an upstream that keeps failing, and its callers the wait.
 *
 * Attempts under way count as not failed: faults are faster than answers, so at a burst's start
 * the first results to come in are nearly all faults, and a breaker that looks at results alone
 * opens on an upstream where one call in five fails.
 */
export class Breaker implements Layer {
  readonly name = 'breaker';
  readonly upstream: string;
  readonly #options: BreakerOptions;
  readonly #window: RollingWindow;
  #state: BreakerState = 'closed';
  #underWay = 0;
  #openUntil = 0;
  #openMs: number;
  /** Counts openings, so that an attempt from before one cannot speak for the time after it. */
  #era = 0;
  #probesLeft = 0;
  #probeFailures = 0;
  #probeSuccesses = 0;
  /** Made at the first probing: most breakers never open. */
  #probes: Map<Attempt, number> | undefined = undefined;

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

  before(attempt: Attempt, now: number): Fault | undefined {
    if (this.#state !== 'closed') return this.#admitProbe(attempt, now);
    this.#underWay++;
    return undefined;
  }

  after(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (this.#probes?.has(attempt)) {
      this.#afterProbe(attempt, fault, now);
      return;
    }
    this.#underWay--;
    if (fault === undefined) this.#window.succeeded(now);
    else if (isFailure(fault)) this.#failed(attempt, now);
    // The upstream answered, if only to say no.
    else if (fault.sent === 'answered' && fault.kind !== 'rate_limited') this.#window.succeeded(now);
  }

  #failed(attempt: Attempt, now: number): void {
    const window = this.#window;
    window.failed(now);
    if (this.#state !== 'closed' || window.ended < this.#options.minimumAttempts) return;
    const share = window.failures / (window.ended + this.#underWay);
    if (share >= this.#options.failureShare) this.#open(attempt, now);
  }

  #open(attempt: Attempt, now: number): void {
    this.#state = 'open';
    this.#era++;
    this.#openUntil = now + this.#openMs;
    this.#openMs = Math.min(this.#options.maxOpenMs, this.#openMs * 2);
    this.#tell(attempt, now, 'circuit_open');
  }

  #admitProbe(attempt: Attempt, now: number): Fault | undefined {
    if (this.#state === 'open' && now >= this.#openUntil) {
      this.#state = 'half_open';
      this.#probesLeft = this.#options.probes;
      this.#probeFailures = 0;
      this.#probeSuccesses = 0;
      this.#tell(attempt, now, 'circuit_half_open');
    }
    if (this.#state === 'half_open' && this.#probesLeft > 0) {
      this.#probesLeft--;
      (this.#probes ??= new Map()).set(attempt, this.#era);
      return undefined;
    }
    const retryAfterMs = Math.max(0, Math.ceil(this.#openUntil - now));
    return { kind: 'circuit_open', sent: 'no', ...(retryAfterMs > 0 ? { retryAfterMs } : {}) };
  }

  /** Closes when the probes can no longer reach the failing share, opens again when they have. */
  #afterProbe(attempt: Attempt, fault: Fault | undefined, now: number): void {
    const era = this.#probes?.get(attempt);
    this.#probes?.delete(attempt);
    if (this.#state !== 'half_open' || era !== this.#era) return;
    const { probes, failureShare } = this.#options;
    const needed = Math.max(1, Math.ceil(probes * failureShare));
    if (fault === undefined || (fault.sent === 'answered' && !isFailure(fault) && fault.kind !== 'rate_limited')) {
      this.#probeSuccesses++;
    } else if (isFailure(fault)) {
      this.#probeFailures++;
    } else {
      // Cancelled or limited: it says nothing, so somebody else may try.
      this.#probesLeft++;
    }
    if (this.#probeFailures >= needed) this.#open(attempt, now);
    else if (probes - this.#probeSuccesses < needed) this.#close(attempt, now);
  }

  #close(attempt: Attempt, now: number): void {
    this.#state = 'closed';
    this.#openMs = this.#options.openMs;
    this.#window.clear();
    this.#tell(attempt, now, 'circuit_close');
  }

  #tell(
    attempt: Attempt,
    now: number,
    type: 'circuit_open' | 'circuit_half_open' | 'circuit_close',
  ): void {
    const { call } = attempt;
    if (call.watched) call.emit(now, { type, upstream: this.upstream });
  }
}

export function breaker(options: Partial<BreakerOptions> & { readonly upstream?: string } = {}): Breaker {
  const { upstream = 'upstream', ...rest } = options;
  return new Breaker(upstream, { ...defaultBreaker, ...rest });
}
