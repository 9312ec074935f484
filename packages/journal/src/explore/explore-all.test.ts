import { expect, it } from 'vitest';
import { explore, tableOf } from './explorer.fixture.js';
import { ALL } from './search-spaces.fixture.js';

// A file of its own, because it is the longest of all tests and has to start first.
it.each([
  ['of four events', ALL],
  ['of four events, each call approved', { ...ALL, approvals: true }],
])('the journal breaks no invariant: %s', { timeout: 300_000 }, async (name, space) => {
  const explored = await explore(space, { depth: 4, faults: 2 });
  console.log(`${name}\n${tableOf(explored)}`);
  expect(explored.violation).toBeUndefined();
});
