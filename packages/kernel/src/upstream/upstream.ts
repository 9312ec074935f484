import { definePolicy, type Policy } from '../decide/policy.js';
import type { Layer } from '../engine/layer.js';
import { Breaker, type BreakerState } from '../layers/breaker.js';
import { Budget } from '../layers/budget.js';
import { HedgeGate } from '../layers/hedge.js';
import { LimitGate } from '../layers/limit-gate.js';
import { Health } from './health.js';

/**
 * What all calls to one host share: its circuit, its budget of retries, its limits and what is
 * known of its health. Give the same one to every guard that talks to that host.
 */
export class Upstream {
  readonly name: string;
  readonly health = new Health();
  readonly #breaker: Breaker | undefined;
  readonly #budget: Budget | undefined;
  readonly #hedge: HedgeGate | undefined;
  readonly #gate = new LimitGate();

  constructor(name: string, policy: Policy) {
    this.name = name;
    this.#breaker = policy.breaker && new Breaker(name, policy.breaker);
    this.#budget = policy.budget && new Budget(policy.budget);
    this.#hedge = policy.hedge && new HedgeGate(policy.hedge);
  }

  get circuit(): BreakerState {
    return this.#breaker?.state ?? 'closed';
  }

  /** Retries that can be made right now; undefined where they are not budgeted. */
  get retryTokens(): number | undefined {
    return this.#budget?.tokens;
  }

  /** The layers through which a pipeline takes part in what is shared. */
  get layers(): readonly Layer[] {
    return [this.health, this.#gate, this.#breaker, this.#budget, this.#hedge].filter(
      (layer) => layer !== undefined,
    );
  }
}

export function upstream(name: string, policy: Partial<Policy>): Upstream {
  return new Upstream(name, definePolicy(policy));
}
