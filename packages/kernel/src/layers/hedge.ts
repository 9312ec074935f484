import { checkNumbers, refuse } from '../decide/validate.js';
import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer, LoopSettings } from '../engine/layer.js';
import type { Effect, Fault } from '../fault.js';
import type { Timer } from '../time/clock.js';
import { TokenBucket } from './budget.js';
import { elapsedOf } from './health.js';

export interface HedgeOptions {
  /** Latency quantile of recent successes after which the second request is sent. */
  readonly quantile: number;
  /** Successes that are needed before hedging starts. */
  readonly minSamples: number;
  /** Token bucket for hedges, refilled by successes only. */
  readonly capacity: number;
  readonly perSuccess: number;
}

const defaultHedge: HedgeOptions = {
  quantile: 0.85,
  minSamples: 16,
  capacity: 10,
  perSuccess: 0.2,
};

/** Sends a second request when the first is slow. For reads only, because both may be processed. */
export class HedgeGate implements Layer {
  readonly name = 'hedge';
  readonly loop: LoopSettings = { hedge: this };
  readonly #options: HedgeOptions;
  readonly #bucket: TokenBucket;
  readonly #timers = new Map<Call, Timer>();

  constructor(options: HedgeOptions) {
    checkHedge(options);
    this.#options = options;
    this.#bucket = new TokenBucket({ ...options, perSecond: 0 });
  }

  check(effect: Effect, layers: readonly Layer[]): void {
    if (effect !== 'read')
      refuse('hedge', `sends twice, so it supports effect 'read' only`, effect);
    const has = (setting: keyof LoopSettings): boolean =>
      layers.some(({ loop }) => loop?.[setting] !== undefined);
    if (!has('health')) refuse('hedge', 'needs the health layer, which measures latency');
    if (!has('retry')) refuse('hedge', 'needs the retry layer, whose attempts it uses');
  }

  /** Schedules the second request. */
  onAttempt({ call }: Attempt, now: number): void {
    const { plan } = call;
    // A hedge that was set for an earlier attempt must not come on top of the last one.
    this.onSettled(call);
    if (call.attempts > (plan.retry?.maxRetries ?? 0)) return;
    const afterMs = this.#delayFor(call);
    if (afterMs === undefined || now + afterMs >= call.deadline) return;
    const timer = plan.clock.setTimer(afterMs, () => {
      this.#timers.delete(call);
      if (call.inFlight === undefined || !this.#bucket.take(0)) return;
      const at = plan.clock.now();
      call.emit(at, { type: 'hedge_attempt', attempt: call.attempts, afterMs });
      call.startAttempt(at);
    });
    this.#timers.set(call, timer);
  }

  onSettled(call: Call): void {
    const timer = this.#timers.get(call);
    if (timer === undefined) return;
    this.#timers.delete(call);
    call.plan.clock.clearTimer(timer);
  }

  /**
   * Whether the retry after a first fault starts without a backoff. Not if the upstream asked for a
   * delay or keeps failing: in an outage an immediate second request is wasted.
   */
  skipsBackoff(call: Call, fault: Fault): boolean {
    if (call.attempts !== 1 || fault.kind === 'rate_limited') return false;
    const { health } = call.plan;
    return fault.retryAfterMs === undefined && health?.medianFor(call.route) !== undefined;
  }

  afterAttempt(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (fault === undefined) this.#bucket.earn();
    else if (fault.kind === 'cancelled') this.#recordLoser(attempt, now);
  }

  #recordLoser(attempt: Attempt, now: number): void {
    const { call } = attempt;
    const { health } = call.plan;
    const elapsedMs = elapsedOf(attempt, now);
    const usual = this.#delayFor(call);
    if (usual !== undefined && elapsedMs > usual) health?.record(call.route, elapsedMs);
  }

  #delayFor(call: Call): number | undefined {
    const { quantile, minSamples } = this.#options;
    return call.plan.health?.quantileFor(call.route, quantile, minSamples);
  }
}

export function checkHedge(options: HedgeOptions): void {
  checkNumbers('hedge.', options, {
    quantile: { above: 0, max: 1 },
    minSamples: { min: 1, integer: true },
    capacity: { min: 0 },
    perSuccess: { min: 0 },
  });
}

export function hedge(options: Partial<HedgeOptions> = {}): HedgeGate {
  return new HedgeGate({ ...defaultHedge, ...options });
}
