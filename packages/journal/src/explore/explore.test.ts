import { describe, expect, it } from 'vitest';
import { explore, tableOf } from './explorer.fixture.js';
import { FINDINGS, ITEMS, WHOLE } from './scopes.fixture.js';

describe('the journal, explored with every sequence of events', () => {
  it.each(Object.entries({ ...ITEMS, ...FINDINGS }))('%s', async (_, { scope, depth }) => {
    expect((await explore(scope, { depth })).violation).toBeUndefined();
  });

  it.each([
    ['of four events', WHOLE],
    ['of four events, each call approved', { ...WHOLE, approvals: true }],
  ])('breaks no invariant: %s', { timeout: 300_000 }, async (name, scope) => {
    const explored = await explore(scope, { depth: 4, faults: 2 });
    console.log(`${name}\n${tableOf(explored)}`);
    expect(explored.violation).toBeUndefined();
  });
});
