import { expect, it } from 'vitest';
import { api } from './support/api.js';
import { fuzzArguments, useHarness } from './support/rig.js';

const { setup } = useHarness();

it('10,000 random arguments per tool: a valid envelope each, and no request for rejected ones', async () => {
  await expect(fuzzArguments(await setup(api()), 10_000)).resolves.toBeUndefined();
});
