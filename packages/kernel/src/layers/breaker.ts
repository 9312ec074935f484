import type { Attempt } from '../engine/attempt.js';
import type { Layer } from '../engine/layer.js';
import type { CircuitEventType } from '../events.js';
import { checkNumbers } from '../decide/validate.js';
import type { Fault } from '../fault.js';
import { isFailure } from './health.js';

export interface BreakerOptions {
  /** Opens at this share of failures among the attempts of the window, those under way included. */
  readonly failureShare: number;
  /** … and not before this many attempts of the window have ended. */
  readonly minimumAttempts: number;
  readonly windowMs: number;
  /**
   * … and only once the share has stayed there this long, because a burst is not an outage. Timeouts
   * open it at once: they have lasted long themselves.
   */
  readonly openAfterMs: number;
  /** How long it stays open at first; twice as long after each failed probing. */
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** How many attempts are let through to see whether the upstream has recovered. */
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
  /** The last failure at which the share was still below its threshold. */
  #tolerableAt = 0;
  #openUntil = 0;
  #openMs: number;
  /** Counts openings, so that an attempt from before one cannot speak for the time after it. */
  #era = 0;
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

  before(attempt: Attempt, now: number): Fault | undefined {
    if (this.#state !== 'closed') return this.#admitProbe(attempt, now);
    this.#underWay++;
    return undefined;
  }

  after(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (attempt.probeOf > 0) return this.#afterProbe(attempt, fault, now);
    this.#underWay--;
    if (isFailure(fault)) this.#failed(attempt, fault?.kind === 'timeout', now);
    else if (isWell(fault)) this.#window.add(0, now);
  }

  #failed(attempt: Attempt, slowly: boolean, now: number): void {
    this.#window.add(1, now);
    const { minimumAttempts, failureShare, openAfterMs } = this.#options;
    const { ended, failures } = this.#window.sum(now);
    // A timeout is slower than any answer: what was going to succeed beside it has done so.
    const pending = slowly ? 0 : this.#underWay;
    if (ended < minimumAttempts || failures < failureShare * (ended + pending)) {
      this.#tolerableAt = now;
    } else if (this.#state === 'closed' && (slowly || now - this.#tolerableAt >= openAfterMs)) {
      this.#open(attempt, now);
    }
  }

  #open(attempt: Attempt, now: number): void {
    this.#era++;
    this.#openUntil = now + this.#openMs;
    this.#openMs = Math.min(this.#options.maxOpenMs, this.#openMs * 2);
    this.#enter('open', 'circuit_open', attempt, now);
  }

  #admitProbe(attempt: Attempt, now: number): Fault | undefined {
    if (now >= this.#openUntil) {
      if (this.#state === 'open') {
        this.#probeFailures = 0;
        this.#enter('half_open', 'circuit_half_open', attempt, now);
      }
      // Probes that never come back must not keep it half open for ever: others may go after a while.
      this.#probesLeft = this.#options.probes;
      this.#openUntil = now + this.#openMs;
    }
    if (this.#state === 'half_open' && this.#probesLeft > 0) {
      this.#probesLeft--;
      attempt.probeOf = this.#era;
      return undefined;
    }
    return { kind: 'circuit_open', sent: 'no', retryAfterMs: Math.ceil(this.#openUntil - now) };
  }

  /** One probe that succeeds closes it; it opens again when as many have failed as were let through. */
  #afterProbe(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (this.#state !== 'half_open' || attempt.probeOf !== this.#era) return;
    if (isFailure(fault)) {
      if (++this.#probeFailures >= this.#options.probes) this.#open(attempt, now);
    } else if (isWell(fault)) {
      this.#openMs = this.#options.openMs;
      this.#window.clear();
      this.#enter('closed', 'circuit_close', attempt, now);
    } else {
      // Cancelled or limited: it says nothing, so another attempt may probe.
      this.#probesLeft++;
    }
  }

  #enter(state: BreakerState, type: CircuitEventType, attempt: Attempt, now: number): void {
    this.#state = state;
    attempt.call.tell(now, { type, upstream: this.upstream });
  }
}

/** Did the upstream answer as it should, if only to refuse? Asked of what is not a failure. */
function isWell(fault: Fault | undefined): boolean {
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
 * How many attempts ended within the last while, and how many of them failed.
 *
 * Two counts slide over each other: the last full window fades out while the current one fills. It
 * needs no list of attempts and is off only by how unevenly they came.
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
    if (now >= this.#until) this.#turn(now);
    this.#ended++;
    this.#failures += failures;
  }

  /** Attempts that ended, and failures among them, as of `now`. */
  sum(now: number): { readonly ended: number; readonly failures: number } {
    if (now >= this.#until) this.#turn(now);
    const left = (this.#until - now) / this.#lengthMs;
    return {
      ended: this.#ended + this.#endedBefore * left,
      failures: this.#failures + this.#failuresBefore * left,
    };
  }

  clear(): void {
    this.#until = -Infinity;
  }

  #turn(now: number): void {
    const adjacent = now < this.#until + this.#lengthMs;
    this.#endedBefore = adjacent ? this.#ended : 0;
    this.#failuresBefore = adjacent ? this.#failures : 0;
    this.#ended = 0;
    this.#failures = 0;
    this.#until = (adjacent ? this.#until : now) + this.#lengthMs;
  }
}
