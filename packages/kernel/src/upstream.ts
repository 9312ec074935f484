import { definePolicy, type ResiliencePolicy } from './decide/policy.js';
import type { Layer } from './engine/layer.js';
import type { Effect } from './fault.js';
import { Breaker, defaultBreaker, type BreakerState } from './layers/breaker.js';
import { Budget, defaultBudget } from './layers/budget.js';
import { HedgeGate } from './layers/hedge.js';
import { LimitGate, type ReportedLimit } from './layers/limit-gate.js';
import { Health } from './layers/health.js';

/**
 * State shared by all calls to one host: circuit breaker, retry budget, rate limits and health. Pass
 * the same instance to every resilient function that calls that host.
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
    this.retryCapacity = budget ? budget.capacity : undefined;
    this.#hedge = hedge && new HedgeGate(hedge);
  }

  get circuit(): BreakerState {
    return this.#breaker?.state ?? 'closed';
  }

  /** Retries that the budget allows now; undefined without a budget. */
  get retryTokens(): number | undefined {
    return this.#budget?.tokens;
  }

  /** The number of retries that a full budget allows; undefined without a budget. */
  readonly retryCapacity: number | undefined;

  /** While the circuit is open: when a probe is admitted, on the clock of its pipelines. */
  get probeAt(): number | undefined {
    return this.circuit === 'open' ? this.#breaker?.probeAt : undefined;
  }

  /** The windows of rate limits that the upstream reported and that have not reset yet. */
  limits(wallNow: number): readonly ReportedLimit[] {
    return this.#gate.reported(wallNow);
  }

  /** The layers that apply the shared state to calls with this effect. Only reads are hedged. */
  layersFor(effect: Effect): readonly Layer[] {
    const hedge = effect === 'read' ? this.#hedge : undefined;
    return [this.health, this.#gate, this.#breaker, this.#budget, hedge].filter(
      (layer) => layer !== undefined,
    );
  }
}

/** Creates the shared state of a host, with a retry budget and a breaker unless the policy disables them. */
export function upstream(name: string, policy: Partial<ResiliencePolicy> = {}): Upstream {
  return new Upstream(name, definePolicy(policy));
}
