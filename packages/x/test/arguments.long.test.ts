import { fuzzTools } from '@toolkeel/pack-kit/testing';
import { expect, it } from 'vitest';
import { argumentValues } from './support/arguments.js';
import { useWorld } from './support/rig.js';

const { world } = useWorld();

it('accepts or rejects many generated arguments', async () => {
  const { rig, server: upstream } = await world(() => ({ status: 403, json: {} }));
  const options = { rig, upstream, values: argumentValues };
  await expect(fuzzTools({ ...options, runs: 2_000 })).resolves.toBeUndefined();
});
