import {
  FaultError,
  type AttemptContext,
  type Clock,
  type Fault,
  type Work,
} from '@toolkeel/kernel';
import { fault } from '@toolkeel/kernel/testing';
import type { Callee } from './variants.js';
import { lognormalQuantile, type Lognormal } from '../stats/stats.js';
import { draw, type FaultMode, type Outage, type OutageKind, OutageWatch } from './model.js';

export interface UpstreamOptions {
  readonly clock: Clock;
  readonly seed: number;
  readonly calls: number;
  readonly latency: Lognormal;
  readonly faults: FaultMode;
  readonly outages?: readonly Outage[];
  readonly outageKind?: OutageKind;
  /** Requests a second beyond which it sheds load: it answers 503 at once. */
  readonly capacity?: number;
  /** Is told of every request that arrives. */
  readonly onRequest?: (now: number, call: number) => void;
}

/** What becomes of a request: an answer or a fault, and when. Never, if it hangs. */
interface Fate {
  readonly afterMs: number;
  readonly failed: boolean;
}

/** Made once: what an error costs to construct is not what is simulated. */
const unavailable = new FaultError(fault('server'));
const tooSlow: Fault = fault('timeout', { clock: 'attempt', final: true });
const gaveUp = new FaultError(tooSlow);

/** How much of a second's capacity may be asked for at once. */
const BURST_SECONDS = 0.1;
/** A request that is turned away learns so in this share of the time of an answer. */
const FAST = 0.1;

/** An upstream in virtual time. Its own count of requests is the witness for every load. */
export class SimulatedUpstream implements Callee {
  /** Requests that arrived, for each call. */
  readonly attempts: Uint16Array;
  readonly #options: UpstreamOptions;
  readonly #outages: OutageWatch;
  #backlog = 0;
  #backlogAt = 0;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#outages = new OutageWatch(options.outages ?? []);
    this.attempts = new Uint16Array(options.calls);
  }

  readonly handle = (call: number, { index }: AttemptContext): Promise<number> =>
    this.#answer(call, this.#arrive(call, index));

  handleWithin(timeoutMs: number): Work<number, number> {
    return (call, { index }) => {
      const fate = this.#arrive(call, index);
      return fate.afterMs > timeoutMs ? this.#giveUp(timeoutMs) : this.#answer(call, fate);
    };
  }

  #arrive(call: number, attempt: number): Fate {
    const { clock, seed, latency, onRequest } = this.#options;
    const now = clock.now();
    this.attempts[call]! += 1;
    onRequest?.(now, call);
    const answerMs = lognormalQuantile(latency, draw(seed, 'latency', call, attempt));
    if (this.#outages.isDown(now)) return this.#turnAway(answerMs);
    if (this.#isFull(now)) return failure(answerMs * FAST);
    return this.#surviving(this.#serve(call, attempt, answerMs), now);
  }

  #serve(call: number, attempt: number, answerMs: number): Fate {
    const { seed, faults } = this.#options;
    const fails = draw(seed, 'fault', call, attempt) < faults.rate;
    if (!fails) return { afterMs: answerMs, failed: false };
    const hangs = draw(seed, 'kind', call, attempt) < faults.hangs;
    return failure(hangs ? Infinity : answerMs * faults.share);
  }

  #turnAway(answerMs: number): Fate {
    const { outageKind } = this.#options;
    if (outageKind === 'instant') return failure(0);
    return failure(outageKind === 'hangs' ? Infinity : answerMs * FAST);
  }

  /** What becomes of a request if an outage begins while it is under way. */
  #surviving(fate: Fate, now: number): Fate {
    const { outageKind = 'turnsAway' } = this.#options;
    const from = this.#outages.nextFrom(now);
    const breaks = outageKind === 'crashes' || outageKind === 'hangs';
    if (!breaks || now + fate.afterMs < from) return fate;
    return failure(outageKind === 'hangs' ? Infinity : from - now);
  }

  #answer(call: number, { afterMs, failed }: Fate): Promise<number> {
    return new Promise((resolve, reject) => {
      if (afterMs === Infinity) return;
      this.#options.clock.setTimer(afterMs, () => (failed ? reject(unavailable) : resolve(call)));
    });
  }

  #giveUp(timeoutMs: number): Promise<never> {
    return new Promise((_, reject) => {
      this.#options.clock.setTimer(timeoutMs, () => reject(gaveUp));
    });
  }

  /** A bucket that empties at the rate of the capacity; what would overflow is turned away. */
  #isFull(now: number): boolean {
    const { capacity = Infinity } = this.#options;
    if (capacity === Infinity) return false;
    this.#backlog = Math.max(0, this.#backlog - ((now - this.#backlogAt) * capacity) / 1000);
    this.#backlogAt = now;
    if (this.#backlog + 1 > capacity * BURST_SECONDS) return true;
    this.#backlog += 1;
    return false;
  }
}

function failure(afterMs: number): Fate {
  return { afterMs, failed: true };
}
