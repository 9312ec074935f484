import { expect, it } from 'vitest';
import { explore, tableOf, walk } from './explorer.fixture.js';
import { ALL } from './search-spaces.fixture.js';

const HOUR_MS = 3_600_000;

it.each([
  ['six events', ALL, { depth: 6, faults: 2 }],
  ['six events, each call approved', { ...ALL, approvals: true }, { depth: 6, faults: 2 }],
  ['four events in all branches', { ...ALL, isThorough: true }, { depth: 4 }],
])('%s break no invariant', { timeout: 2 * HOUR_MS }, async (name, given, depth) => {
  const explored = await explore(given, depth);
  console.log(`${name}\n${tableOf(explored)}`);
  expect(explored.violation).toBeUndefined();
});

it.each([
  ['allowed', false],
  ['approved', true],
])(
  'half a million random events break no invariant: %s',
  { timeout: HOUR_MS },
  async (_, approvals) => {
    const given = { ...ALL, isThorough: true, approvals };
    for (let seed = 1; seed <= 50; seed += 1) {
      const { violation } = await walk(given, { seed, events: 10_000, length: 20 });
      expect(violation).toBeUndefined();
    }
  },
);
