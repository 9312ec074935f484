import { randomOf } from '../random.js';
import { CONNECTION, paceOf, type FaultKind } from './kinds.js';
import { NO_LATENCY, sampleLatency, type FaultRule, type Latency } from './rules.js';

/**
 * What a draw depends on, apart from the seed: the number of requests that its route has had, or the request
 * itself and how often it was repeated. `request` gives two runs the same draws for the same calls, in any order.
 */
export type DrawBy = 'arrival' | 'request';

interface Arrival {
  readonly route: string;
  readonly method: string;
  /** Equal for equal requests. */
  readonly fingerprint: string;
  /** Whether the fault can have an effect on this route. Others are left for the requests that they can hit. */
  readonly canHave?: ((kind: FaultKind) => boolean) | undefined;
}

export interface Fault extends Omit<FaultRule, 'kind'> {
  readonly kind: FaultKind;
}

export interface ResponsePlan {
  /** The latency of a normal response. */
  readonly latencyMs: number;
  /** The time until this response begins. */
  readonly waitMs: number;
  readonly fault?: Fault;
}

export interface InjectorOptions {
  readonly seed: number;
  readonly faults?: readonly FaultRule[];
  readonly latency?: Latency;
  readonly drawBy?: DrawBy;
}

export type FaultInjector = ReturnType<typeof createFaultInjector>;

const MAX_COUNTERS = 100_000;

export function createFaultInjector(options: InjectorOptions) {
  let { seed, latency = NO_LATENCY } = options;
  const drawBy = options.drawBy ?? 'arrival';
  let rules: { readonly rule: FaultRule; matched: number; injected: number }[] = [];
  const arrivals = new Map<string, number>();

  const setFaults = (given: readonly FaultRule[]): void => {
    rules = given.map((rule) => ({ rule, matched: 0, injected: 0 }));
  };
  setFaults(options.faults ?? []);

  const countArrival = (key: string): number => {
    const count = arrivals.get(key) ?? 0;
    arrivals.delete(key);
    arrivals.set(key, count + 1);
    const [oldest] = arrivals.size > MAX_COUNTERS ? arrivals.keys() : [];
    if (oldest !== undefined) arrivals.delete(oldest);
    return count;
  };

  const drawFault = (arrival: Arrival, random: () => number): Fault | undefined => {
    let remaining = random();
    const choice = random();
    for (const state of rules) {
      const { rule } = state;
      if (!appliesTo(rule, arrival)) continue;
      state.matched += 1;
      if (state.matched <= (rule.skip ?? 0) || state.injected >= (rule.times ?? Infinity)) continue;
      const rate = rule.rate ?? 1;
      if (remaining >= rate) {
        remaining -= rate;
        continue;
      }
      state.injected += 1;
      const kinds = typeof rule.kind === 'string' ? [rule.kind] : rule.kind;
      const kind = kinds[Math.floor(choice * kinds.length)];
      return kind && { ...rule, kind };
    }
    return undefined;
  };

  return {
    drawBy,
    faults: (): readonly FaultRule[] => rules.map(({ rule }) => rule),
    latency: () => latency,
    setFaults,
    setLatency: (given: Latency): void => {
      latency = given;
    },
    /** Restarts the sequence of draws, with the same seed or another one. */
    restart: (nextSeed = seed): void => {
      seed = nextSeed;
      arrivals.clear();
      setFaults(rules.map(({ rule }) => rule));
    },
    plan: (arrival: Arrival): ResponsePlan => {
      const { route, fingerprint } = arrival;
      const key = drawBy === 'request' ? `${route} ${fingerprint}` : route;
      const count = countArrival(key);
      // Latency and faults have separate streams, so that fault rules do not change latencies.
      const latencyMs = sampleLatency(latency, route, randomOf(seed, 'latency', key, count));
      const fault = drawFault(arrival, randomOf(seed, 'fault', key, count));
      if (!fault) return { latencyMs, waitMs: latencyMs };
      return { latencyMs, waitMs: latencyMs * (fault.pace ?? paceOf(fault.kind)), fault };
    },
  };
}

function appliesTo(rule: FaultRule, { route, method, canHave }: Arrival): boolean {
  const { kind, routes, methods } = rule;
  if ((kind === 'reset-on-connect') !== (route === CONNECTION)) return false;
  // A rule that names the route means it.
  if (canHave && !routes && !(typeof kind === 'string' ? [kind] : kind).some(canHave)) return false;
  return (routes?.includes(route) ?? true) && (methods?.includes(method) ?? true);
}
