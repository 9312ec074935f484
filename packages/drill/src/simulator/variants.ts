import {
  attemptTimeout,
  breaker,
  budget,
  type Clock,
  compose,
  deadline,
  health,
  type HealthOptions,
  hedge,
  type HedgeOptions,
  type Layer,
  limitGate,
  presets,
  type ResiliencePolicy,
  type ResilientFunction,
  retry,
  type RetryPolicy,
  withResilience,
  type Work,
} from '@toolkeel/kernel';
import { seededRandom } from '@toolkeel/kernel/testing';

/** What a variant calls. The input is the number of the call. */
export interface Callee {
  readonly handle: Work<number, number>;
  /** The same for a client that takes its own timeout for final, as some do. */
  handleWithin(timeoutMs: number): Work<number, number>;
}

/** What a variant is built in. */
interface World {
  readonly clock: Clock;
  readonly upstream: Callee;
  readonly seed: number;
  readonly onCircuit: ((event: CircuitEvent, now: number) => void) | undefined;
}

export type CircuitEvent = 'circuit_open' | 'circuit_half_open' | 'circuit_close';

/** One way to call the upstream, beside others. */
export interface Variant {
  readonly title: string;
  build(world: World): ResilientFunction<number, number>;
}

/** The preset, as it is shipped. */
const ours: Variant = {
  title: 'toolkeel stac',
  build: (world) => guarded(world, presets.stac, []),
};

/** With the opt-in layer for reads, also as shipped. */
const hedged: Variant = {
  title: 'toolkeel stac + hedge',
  build: (world) => guarded(world, presets.stac, [hedge()]),
};

function guarded(world: World, policy: Partial<ResiliencePolicy>, layers: readonly Layer[]) {
  const { clock, upstream, seed } = world;
  return withResilience(upstream.handle, policy, {
    effect: 'read',
    clock,
    random: seededRandom(seed),
    layers: [...layers, ...circuitWatch(world)],
  });
}

/** Changes to the shipped policy, for a sweep. */
export interface TunedPolicy {
  readonly title: string;
  /** Changes to the preset. */
  readonly policy?: Partial<ResiliencePolicy>;
  /** Instead of the preset: what is left out here is left out. */
  readonly only?: Partial<ResiliencePolicy>;
  readonly health?: HealthOptions;
  readonly hedge?: Partial<HedgeOptions>;
}

/** The same layers as the preset's, composed by hand so that every number can be another. */
export function tunedVariant({
  title,
  policy,
  only,
  health: known,
  hedge: hedging,
}: TunedPolicy): Variant {
  const numbers = { ...(only ?? presets.stac), ...policy };
  return {
    title,
    build(world) {
      const { clock, upstream, seed } = world;
      const layers: Layer[] = [retry(numbers), health(known), limitGate(), ...circuitWatch(world)];
      if (numbers.callTimeoutMs) layers.push(deadline(numbers.callTimeoutMs));
      if (numbers.attemptTimeoutMs) layers.push(attemptTimeout(numbers.attemptTimeoutMs));
      if (numbers.breaker) layers.push(breaker(numbers.breaker));
      if (numbers.budget) layers.push(budget(numbers.budget));
      if (hedging) layers.push(hedge(hedging));
      const random = seededRandom(seed);
      return compose(layers, { effect: 'read', clock, random }).wrap(upstream.handle);
    },
  };
}

const { breaker: _, ...withoutABreaker } = presets.stac;

/** The same without a breaker, to see what the budget does on its own. */
const withoutBreaker: Variant = tunedVariant({
  title: 'toolkeel stac, no breaker',
  only: withoutABreaker,
});

function circuitWatch({ onCircuit }: World): Layer[] {
  if (onCircuit === undefined) return [];
  return [
    {
      name: 'circuitWatch',
      told(_call, event, now) {
        const { type } = event;
        if (type === 'circuit_open' || type === 'circuit_half_open' || type === 'circuit_close')
          onCircuit(type, now);
      },
    },
  ];
}

/** A rival's default policy, as data. The test beside this file holds each against the package. */
export interface RivalModel {
  readonly title: string;
  readonly retry: Partial<RetryPolicy>;
  /** Whether an attempt that ran into its timeout is tried again. */
  readonly retriesTimeouts: boolean;
  readonly callTimeoutMs?: number;
}

/** Every variant cuts an attempt off after as long as the preset does; the rivals' own clocks differ. */
export const ATTEMPT_TIMEOUT_MS = presets.stac.attemptTimeoutMs ?? Infinity;

const plain = { jitter: 'none', backoffMultiplier: 2 } as const;

export const rivalModels = {
  /** The requirement taken literally: caps of 0.4 and 0.8 s whatever the upstream's speed. */
  seed: {
    title: 'seed 003, literally',
    retry: { ...plain, maxRetries: 2, initialBackoffMs: 400, maxBackoffMs: 1_600, jitter: 'full' },
    retriesTimeouts: true,
    callTimeoutMs: presets.stac.callTimeoutMs ?? Infinity,
  },
  pRetry: {
    title: 'p-retry 7.1.1',
    retry: { ...plain, maxRetries: 10, initialBackoffMs: 1_000, maxBackoffMs: 2_000_000_000 },
    retriesTimeouts: true,
  },
  undici: {
    title: 'undici 7.30.2 RetryAgent',
    retry: { ...plain, maxRetries: 5, initialBackoffMs: 500, maxBackoffMs: 30_000 },
    retriesTimeouts: false,
  },
  ky: {
    title: 'ky 1.14.3',
    retry: { ...plain, maxRetries: 2, initialBackoffMs: 300, maxBackoffMs: 2_000_000_000 },
    retriesTimeouts: false,
  },
  /** Not a policy to have, but the fastest that tries again only after a failure. */
  floor: {
    title: 'immediate retry (floor)',
    retry: { ...plain, maxRetries: 2, initialBackoffMs: 0, maxBackoffMs: 0 },
    retriesTimeouts: true,
  },
} as const satisfies Record<string, RivalModel>;

/** A rival runs in the same loop as we do, with its own numbers and none of our protection. */
export function rival(model: RivalModel): Variant {
  return {
    title: model.title,
    build({ clock, upstream, seed }) {
      const layers = [retry(model.retry)];
      if (model.retriesTimeouts) layers.push(attemptTimeout(ATTEMPT_TIMEOUT_MS));
      if (model.callTimeoutMs) layers.push(deadline(model.callTimeoutMs));
      const work = model.retriesTimeouts
        ? upstream.handle
        : upstream.handleWithin(ATTEMPT_TIMEOUT_MS);
      const random = seededRandom(seed);
      return compose(layers, { effect: 'read', clock, random }).wrap(work);
    },
  };
}

export const variants = {
  ours,
  hedged,
  seed: rival(rivalModels.seed),
  pRetry: rival(rivalModels.pRetry),
  undici: rival(rivalModels.undici),
  ky: rival(rivalModels.ky),
  floor: rival(rivalModels.floor),
  withoutBreaker,
} as const satisfies Record<string, Variant>;

export type VariantName = keyof typeof variants;
