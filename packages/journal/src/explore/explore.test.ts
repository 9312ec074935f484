import { describe, expect, it } from 'vitest';
import { explore } from './explorer.fixture.js';
import { DEFECTS, FINDINGS } from './search-spaces.fixture.js';

describe('the journal, explored with every sequence of a few events', () => {
  it.each(Object.entries({ ...DEFECTS, ...FINDINGS }))(
    'no longer: %s',
    { timeout: 300_000 },
    async (_, { space, depth }) => {
      expect((await explore(space, { depth })).violation).toBeUndefined();
    },
  );
});
