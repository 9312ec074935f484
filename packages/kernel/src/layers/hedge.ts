import { checkHedge } from '../decide/validate.js';
import type { Attempt } from '../engine/attempt.js';
import type { Call } from '../engine/call.js';
import type { Layer, LoopSettings } from '../engine/layer.js';
import type { Effect, Fault } from '../fault.js';
import { refuse } from '../decide/validate.js';
import type { Health } from '../upstream/health.js';
import { TokenBucket } from '../upstream/token-bucket.js';

export interface HedgeOptions {
  /** A second request goes out when the first has taken longer than this share of recent answers. */
  readonly quantile: number;
  /** … once so many answers are known. */
  readonly minSamples: number;
  /** Hedges have tokens of their own, which only successes bring. */
  readonly capacity: number;
  readonly perSuccess: number;
}

export const defaultHedge: HedgeOptions = {
  quantile: 0.9,
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

  constructor(options: HedgeOptions) {
    checkHedge(options);
    this.#options = options;
    this.#bucket = new TokenBucket({ ...options, perSecond: 0 });
  }

  accepts(effect: Effect): void {
    if (effect !== 'read') refuse('hedge', `sends twice, so it is for effect 'read' only`, effect);
  }

  /** How long to wait for the attempt that just began before another is sent beside it. */
  delayFor(call: Call, health: Health | undefined): number | undefined {
    const { quantile, minSamples } = this.#options;
    return health?.quantileFor(call.route, quantile, minSamples);
  }

  take(): boolean {
    return this.#bucket.take(0);
  }

  after(attempt: Attempt, fault: Fault | undefined, now: number): void {
    if (fault === undefined) this.#bucket.earn();
    else if (fault.kind === 'cancelled') this.#recordLoser(attempt, now);
  }

  #recordLoser(attempt: Attempt, now: number): void {
    const { call } = attempt;
    const { health } = call.plan;
    const elapsedMs = now - attempt.startedAt;
    const usual = this.delayFor(call, health);
    if (usual !== undefined && elapsedMs > usual) health?.recordSlow(call.route, elapsedMs);
  }
}

export function hedge(options: Partial<HedgeOptions> = {}): HedgeGate {
  return new HedgeGate({ ...defaultHedge, ...options });
}
