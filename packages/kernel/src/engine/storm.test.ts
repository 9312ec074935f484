import { describe, expect, it } from 'vitest';
import { storm } from './storm.fixture.js';

describe('random compositions and upstreams', () => {
  it('settle every call in time, once, with its own result, and release all resources', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      expect(await storm(seed), `seed ${seed}`).toEqual([]);
    }
  });
});
