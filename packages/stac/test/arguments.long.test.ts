import { expect, it } from 'vitest';
import { api } from './support/api.js';
import { fuzzArguments } from './support/fuzz.js';
import { useWorld } from './support/world.js';

const { world } = useWorld();

it('ten thousand made-up arguments a tool: a valid answer each, and no request for the refused', async () => {
  await expect(fuzzArguments(await world(api()), 10_000)).resolves.toBeUndefined();
});
