import { expect, it } from 'vitest';
import { fuzzArguments } from './support/arguments.js';
import { useWorld } from './support/rig.js';

const { world } = useWorld();

it('accepts or rejects many generated arguments', async () => {
  const given = await world(() => ({ status: 403, json: {} }));
  await expect(fuzzArguments(given, 2_000)).resolves.toBeUndefined();
});
