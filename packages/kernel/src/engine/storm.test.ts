import { describe, expect, it } from 'vitest';
import { storm } from './storm.fixture.js';

describe('any composition, under any upstream', () => {
  it('settles every call in time, once, with its own answer, and leaves nothing behind', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      expect(await storm(seed), `seed ${seed}`).toEqual([]);
    }
  });
});
