import type { Fault, Layer } from '@toolkeel/kernel';
import { codeOf, ProviderFault, type ProviderErrorCode } from './errors.js';

/** Timers may fire this much early. */
const TOLERANCE_MS = 5;

/** How long a chain prefers other models after a fault that waiting does not cure. */
const AVOID_MS = 60_000;

const uncurable: ReadonlySet<ProviderErrorCode> = new Set<ProviderErrorCode>([
  'quota_exhausted',
  'billing',
  'auth',
  'not_configured',
]);

/**
 * Holds requests back until the time that the provider asked for, for all requests to it and not only
 * for the one that was told. A chain avoids the provider meanwhile.
 */
export class Cooldown {
  readonly #provider: string;
  #heldUntil = -Infinity;
  #avoidedUntil = -Infinity;

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Milliseconds until the provider accepts requests again. */
  heldMs(now: number): number {
    const left = this.#heldUntil - now;
    return left > TOLERANCE_MS ? left : 0;
  }

  /** Milliseconds for which a chain should prefer another model. */
  avoidedMs(now: number): number {
    return Math.max(this.heldMs(now), this.#avoidedUntil - now, 0);
  }

  /** `skip`: a request that would have to wait fails instead, because another model can take it. */
  layer(skip: boolean): Layer {
    return {
      name: 'cooldown',
      beforeAttempt: (_attempt, now) => {
        const left = this.heldMs(now);
        return left > 0 ? this.#refusal(left, skip) : undefined;
      },
      afterAttempt: (_attempt, fault, now) => this.#learn(fault, now),
    };
  }

  #refusal(leftMs: number, skip: boolean): Fault {
    const retryAfterMs = Math.ceil(leftMs);
    return new ProviderFault(
      'cooling_down',
      `${this.#provider} asked to wait before the next request`,
      { kind: 'rate_limited', sent: 'no', retryAfterMs, ...(skip && { final: true }) },
    ).fault;
  }

  #learn(fault: Fault | undefined, now: number): void {
    if (fault === undefined) {
      this.#avoidedUntil = -Infinity;
    } else if (uncurable.has(codeOf(fault))) {
      this.#avoidedUntil = now + AVOID_MS;
    } else if (fault.sent !== 'no' && fault.retryAfterMs !== undefined) {
      this.#heldUntil = Math.max(this.#heldUntil, now + fault.retryAfterMs);
    }
  }
}
