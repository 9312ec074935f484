import { definePolicy, type ResiliencePolicy } from './decide/policy.js';
import type { Layer } from './engine/layer.js';
import type { Effect } from './fault.js';
import { Breaker, defaultBreaker, type BreakerState } from './layers/breaker.js';
import { Budget, defaultBudget } from './layers/budget.js';
import { HedgeGate } from './layers/hedge.js';
import { LimitGate } from './layers/limit-gate.js';
import { Health } from './layers/health.js';

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

  constructor(name: string, policy: ResiliencePolicy) {
    this.name = name;
    const { breaker = defaultBreaker, budget = defaultBudget, hedge } = policy;
    this.#breaker = breaker ? new Breaker(name, breaker) : undefined;
    this.#budget = budget ? new Budget(budget) : undefined;
    this.#hedge = hedge && new HedgeGate(hedge);
  }

  get circuit(): BreakerState {
    return this.#breaker?.state ?? 'closed';
  }

  /** Retries that can be made right now; undefined where they are not budgeted. */
  get retryTokens(): number | undefined {
    return this.#budget?.tokens;
  }

  /** The layers through which calls of an effect take part in what is shared. Only reads are hedged. */
  layersFor(effect: Effect): readonly Layer[] {
    const hedge = effect === 'read' ? this.#hedge : undefined;
    return [this.health, this.#gate, this.#breaker, this.#budget, hedge].filter(
      (layer) => layer !== undefined,
    );
  }
}

/** Retries are budgeted and a circuit breaks unless the policy says otherwise. */
export function upstream(name: string, policy: Partial<ResiliencePolicy> = {}): Upstream {
  return new Upstream(name, definePolicy(policy));
}
