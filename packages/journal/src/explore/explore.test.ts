import { describe, expect, it } from 'vitest';
import { explore, tableOf } from './explorer.fixture.js';
import { FINDINGS, DEFECTS, ALL } from './search-spaces.fixture.js';

describe('the journal, explored with every sequence of events', () => {
  it.each(Object.entries({ ...DEFECTS, ...FINDINGS }))(
    'no longer: %s',
    { timeout: 300_000 },
    async (_, { space, depth }) => {
      expect((await explore(space, { depth })).violation).toBeUndefined();
    },
  );

  it.each([
    ['of four events', ALL],
    ['of four events, each call approved', { ...ALL, approvals: true }],
  ])('breaks no invariant: %s', { timeout: 300_000 }, async (name, space) => {
    const explored = await explore(space, { depth: 4, faults: 2 });
    console.log(`${name}\n${tableOf(explored)}`);
    expect(explored.violation).toBeUndefined();
  });
});
