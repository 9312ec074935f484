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

/** The upstream that a variant calls. The input is the number of the call. */
export interface Callee {
  readonly handle: Work<number, number>;
  /** The same for a client that does not retry after its own timeout. */
  handleWithin(timeoutMs: number): Work<number, number>;
}

interface VariantContext {
  readonly clock: Clock;
  readonly upstream: Callee;
  readonly seed: number;
  readonly onCircuit: ((event: CircuitEvent, now: number) => void) | undefined;
}

export type CircuitEvent = 'circuit_open' | 'circuit_half_open' | 'circuit_close';

/** One way to call the upstream. */
export interface Variant {
  readonly title: string;
  build(context: VariantContext): ResilientFunction<number, number>;
}

/** The shipped preset. */
const ours: Variant = {
  title: 'toolkeel stac',
  build: (context) => resilient(context, presets.stac, []),
};

/** The shipped preset with the opt-in hedge layer for reads. */
const hedged: Variant = {
  title: 'toolkeel stac + hedge',
  build: (context) => resilient(context, presets.stac, [hedge()]),
};

function resilient(
  context: VariantContext,
  policy: Partial<ResiliencePolicy>,
  layers: readonly Layer[],
) {
  const { clock, upstream, seed } = context;
  return withResilience(upstream.handle, policy, {
    effect: 'read',
    clock,
    random: seededRandom(seed),
    layers: [...layers, ...circuitObserver(context)],
  });
}

/** Changes to the shipped policy, for a sweep. */
export interface TunedPolicy {
  readonly title: string;
  /** Changes to the preset. */
  readonly policy?: Partial<ResiliencePolicy>;
  /** Replaces the preset. */
  readonly only?: Partial<ResiliencePolicy>;
  readonly health?: HealthOptions;
  readonly hedge?: Partial<HedgeOptions>;
}

/** The layers of the preset, composed explicitly so that every number can be changed. */
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
    build(context) {
      const { clock, upstream, seed } = context;
      const layers: Layer[] = [
        retry(numbers),
        health(known),
        limitGate(),
        ...circuitObserver(context),
      ];
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

/** The preset without its breaker, to measure the budget alone. */
const withoutBreaker: Variant = tunedVariant({
  title: 'toolkeel stac, no breaker',
  only: withoutABreaker,
});

function circuitObserver({ onCircuit }: VariantContext): Layer[] {
  if (onCircuit === undefined) return [];
  return [
    {
      name: 'circuitObserver',
      onEvent(_call, event, now) {
        const { type } = event;
        if (type === 'circuit_open' || type === 'circuit_half_open' || type === 'circuit_close')
          onCircuit(type, now);
      },
    },
  ];
}

/** The default policy of another library. The test beside this file compares it with the package. */
export interface ReferencePolicy {
  readonly title: string;
  readonly retry: Partial<RetryPolicy>;
  /** Whether an attempt that timed out is retried. */
  readonly retriesTimeouts: boolean;
  readonly callTimeoutMs?: number;
}

/** Every variant times out an attempt after the preset's limit; the libraries' own defaults differ. */
export const ATTEMPT_TIMEOUT_MS = presets.stac.attemptTimeoutMs ?? Infinity;

const plain = { jitter: 'none', backoffMultiplier: 2 } as const;

export const referencePolicies = {
  /** Fixed caps of 0.4 and 0.8 s, independent of the upstream's latency. */
  seed: {
    title: 'fixed caps 0.4/0.8 s',
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
  /** Not recommended: the fastest policy that retries only after a failure. */
  floor: {
    title: 'immediate retry (floor)',
    retry: { ...plain, maxRetries: 2, initialBackoffMs: 0, maxBackoffMs: 0 },
    retriesTimeouts: true,
  },
} as const satisfies Record<string, ReferencePolicy>;

/** Runs a reference policy in the same retry loop, without budget, breaker and scaling. */
export function referenceVariant(model: ReferencePolicy): Variant {
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
  seed: referenceVariant(referencePolicies.seed),
  pRetry: referenceVariant(referencePolicies.pRetry),
  undici: referenceVariant(referencePolicies.undici),
  ky: referenceVariant(referencePolicies.ky),
  floor: referenceVariant(referencePolicies.floor),
  withoutBreaker,
} as const satisfies Record<string, Variant>;

export type VariantName = keyof typeof variants;
