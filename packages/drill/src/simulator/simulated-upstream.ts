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
import { draw, type FaultMode, type Outage, type OutageKind, OutageSchedule } from './model.js';

export interface UpstreamOptions {
  readonly clock: Clock;
  readonly seed: number;
  readonly calls: number;
  readonly latency: Lognormal;
  readonly faults: FaultMode;
  readonly outages?: readonly Outage[];
  readonly outageKind?: OutageKind;
  /** Requests a second above which the upstream sheds load with an immediate 503. */
  readonly capacity?: number;
  /** Called for every request that arrives. */
  readonly onRequest?: (now: number, call: number) => void;
}

/** How and when a request ends. `Infinity` if it hangs. */
interface RequestEnd {
  readonly afterMs: number;
  readonly failed: boolean;
}

/** Created once, because constructing errors would dominate the simulation. */
const unavailable = new FaultError(fault('server'));
const tooSlow: Fault = fault('timeout', { clock: 'attempt', final: true });
const gaveUp = new FaultError(tooSlow);

/** The largest burst, as a share of a second's capacity. */
const BURST_SECONDS = 0.1;
/** A rejection takes this share of the time of an answer. */
const FAST = 0.1;

/** An upstream in virtual time. Its own request count is the ground truth for every load figure. */
export class SimulatedUpstream implements Callee {
  /** Requests that arrived, for each call. */
  readonly attempts: Uint16Array;
  readonly #options: UpstreamOptions;
  readonly #outages: OutageSchedule;
  #backlog = 0;
  #backlogAt = 0;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#outages = new OutageSchedule(options.outages ?? []);
    this.attempts = new Uint16Array(options.calls);
  }

  readonly handle = (call: number, { index }: AttemptContext): Promise<number> =>
    this.#answer(call, this.#arrive(call, index));

  handleWithin(timeoutMs: number): Work<number, number> {
    return (call, { index }) => {
      const end = this.#arrive(call, index);
      return end.afterMs > timeoutMs ? this.#giveUp(timeoutMs) : this.#answer(call, end);
    };
  }

  #arrive(call: number, attempt: number): RequestEnd {
    const { clock, seed, latency, onRequest } = this.#options;
    const now = clock.now();
    this.attempts[call]! += 1;
    onRequest?.(now, call);
    const answerMs = lognormalQuantile(latency, draw(seed, 'latency', call, attempt));
    if (this.#outages.isDown(now)) return this.#turnAway(answerMs);
    if (this.#isFull(now)) return failure(answerMs * FAST);
    return this.#endInOutage(this.#serve(call, attempt, answerMs), now);
  }

  #serve(call: number, attempt: number, answerMs: number): RequestEnd {
    const { seed, faults } = this.#options;
    const fails = draw(seed, 'fault', call, attempt) < faults.rate;
    if (!fails) return { afterMs: answerMs, failed: false };
    const hangs = draw(seed, 'kind', call, attempt) < faults.hangs;
    return failure(hangs ? Infinity : answerMs * faults.share);
  }

  #turnAway(answerMs: number): RequestEnd {
    const { outageKind } = this.#options;
    if (outageKind === 'instant') return failure(0);
    return failure(outageKind === 'hangs' ? Infinity : answerMs * FAST);
  }

  /** The end of a request if an outage begins while it is in flight. */
  #endInOutage(end: RequestEnd, now: number): RequestEnd {
    const { outageKind = 'turnsAway' } = this.#options;
    const from = this.#outages.nextFrom(now);
    const breaks = outageKind === 'crashes' || outageKind === 'hangs';
    if (!breaks || now + end.afterMs < from) return end;
    return failure(outageKind === 'hangs' ? Infinity : from - now);
  }

  #answer(call: number, { afterMs, failed }: RequestEnd): Promise<number> {
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

  /** A leaky bucket that drains at the rate of the capacity. */
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

function failure(afterMs: number): RequestEnd {
  return { afterMs, failed: true };
}
