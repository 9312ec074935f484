import { checkNumbers, refuse } from '../decide/validate.js';
import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer, LoopSettings } from '../engine/layer.js';
import type { Effect, Fault } from '../fault.js';
import type { Timer } from '../time/clock.js';
import { TokenBucket } from './budget.js';

export interface HedgeOptions {
  /** A second request goes out when the first has taken longer than this share of recent answers. */
  readonly quantile: number;
  /** … once so many answers are known. */
  readonly minSamples: number;
  /** Hedges have tokens of their own, which only successes bring. */
  readonly capacity: number;
  readonly perSuccess: number;
}

const defaultHedge: HedgeOptions = {
  quantile: 0.85,
  minSamples: 16,
  capacity: 10,
  perSuccess: 0.2,
};

/** A second request against a slow first one. For reads only: both may arrive. */
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

  accepts(effect: Effect, layers: readonly Layer[]): void {
    if (effect !== 'read') refuse('hedge', `sends twice, so it is for effect 'read' only`, effect);
    const has = (setting: keyof LoopSettings): boolean =>
      layers.some(({ loop }) => loop?.[setting] !== undefined);
    if (!has('health')) refuse('hedge', 'needs the health layer, which knows what slow is');
    if (!has('retry')) refuse('hedge', 'needs the retry layer, whose attempts it uses');
  }

  /** Sets the second request for later, in case the first is slow. */
  launched({ call }: Attempt, now: number): void {
    const { plan } = call;
    // A hedge that was set for an earlier attempt must not come on top of the last one.
    this.settled(call);
    if (call.attempts > (plan.retry?.maxRetries ?? 0)) return;
    const afterMs = this.#delayFor(call);
    if (afterMs === undefined || now + afterMs >= call.deadline) return;
    const timer = plan.clock.setTimer(afterMs, () => {
      this.#timers.delete(call);
      if (call.live === undefined || !this.#bucket.take(0)) return;
      const at = plan.clock.now();
      call.tell(at, { type: 'hedge_attempt', attempt: call.attempts, afterMs });
      call.relaunch(at);
    });
    this.#timers.set(call, timer);
  }

  settled(call: Call): void {
    const timer = this.#timers.get(call);
    if (timer === undefined) return;
    this.#timers.delete(call);
    call.plan.clock.clearTimer(timer);
  }

  /**
   * The first fault fires the second attempt at once, unless the upstream asked us to wait or keeps
   * failing: within an outage a second request at once is wasted.
   */
  hurries(call: Call, fault: Fault): boolean {
    if (call.attempts !== 1 || fault.kind === 'rate_limited') return false;
    const { health } = call.plan;
    return fault.retryAfterMs === undefined && health?.medianFor(call.route) !== undefined;
  }

  after(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (fault === undefined) this.#bucket.earn();
    else if (fault.kind === 'cancelled') this.#recordLoser(attempt, now);
  }

  #recordLoser(attempt: Attempt, now: number): void {
    const { call } = attempt;
    const { health } = call.plan;
    const elapsedMs = now - attempt.startedAt;
    const usual = this.#delayFor(call);
    if (usual !== undefined && elapsedMs > usual) health?.recordSlow(call.route, elapsedMs);
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
