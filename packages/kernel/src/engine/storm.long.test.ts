import { expect, it } from 'vitest';
import { storm } from './storm.fixture.js';

it('10,000 random compositions violate no invariant', async () => {
  for (let seed = 1_000; seed < 11_000; seed++) {
    expect(await storm(seed), `seed ${seed}`).toEqual([]);
  }
});
