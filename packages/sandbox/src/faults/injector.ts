import { randomOf } from '../random.js';
import { CONNECTION, paceOf, type FaultKind } from './kinds.js';
import { type FaultRule, type Latency, NO_LATENCY, sampleLatency } from './rules.js';

/**
 * What a draw depends on beside the seed: on how many requests its route has had, or on the request itself
 * and how often it came before. The second gives two runs the same luck for the same calls, in any order.
 */
export type DrawBy = 'arrival' | 'request';

interface Arrival {
  readonly route: string;
  readonly method: string;
  /** Equal for equal requests. */
  readonly fingerprint: string;
}

export interface Fault extends Omit<FaultRule, 'kind'> {
  readonly kind: FaultKind;
}

export interface Plan {
  /** How long a normal answer would take now. */
  readonly latencyMs: number;
  /** How long this one takes until it begins. */
  readonly waitMs: number;
  readonly fault?: Fault;
}

export interface ChaosOptions {
  readonly seed: number;
  readonly faults?: readonly FaultRule[];
  readonly latency?: Latency;
  readonly drawBy?: DrawBy;
}

export interface Chaos {
  readonly drawBy: DrawBy;
  readonly faults: () => readonly FaultRule[];
  readonly latency: () => Latency;
  readonly setFaults: (rules: readonly FaultRule[]) => void;
  readonly setLatency: (latency: Latency) => void;
  /** Begins the same sequence again, or that of another seed. */
  readonly restart: (seed?: number) => void;
  readonly plan: (arrival: Arrival) => Plan;
}

const REMEMBERED = 100_000;

export function createChaos(options: ChaosOptions): Chaos {
  let { seed, latency = NO_LATENCY } = options;
  const drawBy = options.drawBy ?? 'arrival';
  let rules: { readonly rule: FaultRule; seen: number; struck: number }[] = [];
  const arrivals = new Map<string, number>();

  const setFaults = (given: readonly FaultRule[]): void => {
    rules = given.map((rule) => ({ rule, seen: 0, struck: 0 }));
  };
  setFaults(options.faults ?? []);

  const countOf = (key: string): number => {
    const count = arrivals.get(key) ?? 0;
    arrivals.delete(key);
    arrivals.set(key, count + 1);
    const [oldest] = arrivals.size > REMEMBERED ? arrivals.keys() : [];
    if (oldest !== undefined) arrivals.delete(oldest);
    return count;
  };

  const drawFault = (arrival: Arrival, random: () => number): Fault | undefined => {
    let left = random();
    const choice = random();
    for (const state of rules) {
      const { rule } = state;
      if (!concerns(rule, arrival)) continue;
      state.seen += 1;
      if (state.seen <= (rule.skip ?? 0) || state.struck >= (rule.times ?? Infinity)) continue;
      const rate = rule.rate ?? 1;
      if (left >= rate) {
        left -= rate;
        continue;
      }
      state.struck += 1;
      const kinds = typeof rule.kind === 'string' ? [rule.kind] : rule.kind;
      const kind = kinds[Math.floor(choice * kinds.length)];
      return kind && { ...rule, kind };
    }
    return undefined;
  };

  return {
    drawBy,
    faults: () => rules.map(({ rule }) => rule),
    latency: () => latency,
    setFaults,
    setLatency: (given) => {
      latency = given;
    },
    restart: (nextSeed = seed) => {
      seed = nextSeed;
      arrivals.clear();
      setFaults(rules.map(({ rule }) => rule));
    },
    plan: (arrival) => {
      const { route, fingerprint } = arrival;
      const key = drawBy === 'request' ? `${route} ${fingerprint}` : route;
      const count = countOf(key);
      // Two streams: with or without faults, a request has the same latency.
      const latencyMs = sampleLatency(latency, route, randomOf(seed, 'latency', key, count));
      const fault = drawFault(arrival, randomOf(seed, 'fault', key, count));
      if (!fault) return { latencyMs, waitMs: latencyMs };
      return { latencyMs, waitMs: latencyMs * (fault.pace ?? paceOf(fault.kind)), fault };
    },
  };
}

function concerns({ kind, routes, methods }: FaultRule, { route, method }: Arrival): boolean {
  if ((kind === 'reset-on-connect') !== (route === CONNECTION)) return false;
  return (routes?.includes(route) ?? true) && (methods?.includes(method) ?? true);
}
