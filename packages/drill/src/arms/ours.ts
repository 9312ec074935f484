import {
  attemptTimeout,
  breaker,
  budget,
  compose,
  deadline,
  guard,
  health,
  hedge,
  limitGate,
  presets,
  retry,
  type HealthOptions,
  type HedgeOptions,
  type Layer,
  type Policy,
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

/** The same without a breaker, to see what the budget does on its own. */
export const withoutBreaker: Arm = {
  title: 'toolkeel stac, no breaker',
  build: (world) => {
    const { breaker: _, ...policy } = presets.stac;
    return guarded(world, policy, []);
  },
};

function guarded(world: World, policy: Partial<Policy>, layers: readonly Layer[]) {
  const { clock, upstream, seed } = world;
  return guard(upstream.handle, policy, {
    effect: 'read',
    clock,
    random: seededRandom(seed),
    layers: [...layers, ...circuitWatch(world)],
  });
}

/** Other numbers than the shipped ones, for a sweep. */
export interface Variant {
  readonly title: string;
  readonly policy?: Partial<Policy>;
  readonly health?: HealthOptions;
  readonly hedge?: Partial<HedgeOptions>;
}

/** The same layers as the preset's, composed by hand so that every number can be another. */
export function variant({ title, policy: changed, health: known, hedge: hedging }: Variant): Arm {
  const policy = { ...presets.stac, ...changed };
  return {
    title,
    build(world) {
      const { clock, upstream, seed } = world;
      const layers: Layer[] = [retry(policy), health(known), limitGate(), ...circuitWatch(world)];
      if (policy.callTimeoutMs) layers.push(deadline(policy.callTimeoutMs));
      if (policy.attemptTimeoutMs) layers.push(attemptTimeout(policy.attemptTimeoutMs));
      if (policy.breaker) layers.push(breaker(policy.breaker));
      if (policy.budget) layers.push(budget(policy.budget));
      if (hedging) layers.push(hedge(hedging));
      const random = seededRandom(seed);
      return compose(layers, { effect: 'read', clock, random }).wrap(upstream.handle);
    },
  };
}

function circuitWatch({ onCircuit }: World): Layer[] {
  if (onCircuit === undefined) return [];
  return [
    {
      name: 'circuitWatch',
      told(_call, event, now) {
        if ('upstream' in event) onCircuit(event.type, now);
      },
    },
  ];
}
