import { expect, it } from 'vitest';
import { storm } from './fixtures/storm.fixture.js';

it('ten thousand storms violate no invariant', { timeout: 3_600_000 }, async () => {
  for (let seed = 1000; seed < 11_000; seed += 1) {
    const { duplicates, late, lies, limbo, couldKnow } = await storm(seed);
    const wrong = { duplicates, late, lies, limbo, couldKnow };
    const nothing = { duplicates: [], late: [], lies: [], limbo: [], couldKnow: [] };
    expect(wrong, `seed ${seed}`).toEqual(nothing);
  }
});
