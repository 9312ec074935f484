import { fuzzTools } from '@toolkeel/pack-kit/testing';
import { expect, it } from 'vitest';
import { api } from './support/api.js';
import { argumentValues, useHarness } from './support/rig.js';

const { setup } = useHarness();

it('10,000 random arguments per tool: a valid envelope each, and no request for rejected ones', async () => {
  const { rig, server: upstream } = await setup(api());
  const options = { rig, upstream, values: argumentValues, without: ['catalog_url'] };
  await expect(fuzzTools({ ...options, runs: 10_000 })).resolves.toBeUndefined();
});
