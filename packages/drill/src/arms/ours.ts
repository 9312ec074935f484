import {
  attemptTimeout,
  breaker,
  budget,
  compose,
  deadline,
  withResilience,
  health,
  hedge,
  limitGate,
  presets,
  retry,
  type HealthOptions,
  type HedgeOptions,
  type Layer,
  type ResiliencePolicy,
} from '@toolkeel/kernel';
import { seededRandom } from '@toolkeel/kernel/testing';
import type { Arm, World } from './arm.js';

/** The preset, as it is shipped. */
export const ours: Arm = {
  title: 'toolkeel stac',
  build: (world) => guarded(world, presets.stac, []),
};

/** With the opt-in layer for reads, also as shipped. */
export const hedged: Arm = {
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

/** Other numbers than the shipped ones, for a sweep. */
export interface Variant {
  readonly title: string;
  /** Changes to the preset. */
  readonly policy?: Partial<ResiliencePolicy>;
  /** Instead of the preset: what is left out here is left out. */
  readonly only?: Partial<ResiliencePolicy>;
  readonly health?: HealthOptions;
  readonly hedge?: Partial<HedgeOptions>;
}

/** The same layers as the preset's, composed by hand so that every number can be another. */
export function variant({ title, policy, only, health: known, hedge: hedging }: Variant): Arm {
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
export const withoutBreaker: Arm = variant({
  title: 'toolkeel stac, no breaker',
  only: withoutABreaker,
});

function circuitWatch({ onCircuit }: World): Layer[] {
  if (onCircuit === undefined) return [];
  return [
    {
      name: 'circuitWatch',
      onEvent(_call, event, now) {
        const { type } = event;
        if (type === 'circuit_open' || type === 'circuit_half_open' || type === 'circuit_close')
          onCircuit(type, now);
      },
    },
  ];
}
