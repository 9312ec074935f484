import { describe, expect, it } from 'vitest';
import { storm, type Aftermath } from './fixtures/storm.fixture.js';

const RUNS = 80;

/** What must not be there after a storm. */
function wrongs({ duplicates, late, lies, limbo, couldKnow }: Aftermath) {
  return { duplicates, late, lies, limbo, couldKnow };
}
const nothing = { duplicates: [], late: [], lies: [], limbo: [], couldKnow: [] };

describe('callers, kills, stops, lost answers and a failing store, in any order', () => {
  it('without a journal make things happen twice, so that the storm is one', async () => {
    const { duplicates } = await storm(1, { journaled: false });
    expect(duplicates).not.toEqual([]);
  });

  it(
    'never make anything happen twice, leave nothing in limbo, and everybody hears the truth in time',
    { timeout: 120_000 },
    async () => {
      let [calls, kills, effects] = [0, 0, 0];
      for (let seed = 1; seed <= RUNS; seed += 1) {
        const after = await storm(seed);
        expect(wrongs(after), `seed ${seed}`).toEqual(nothing);
        calls += after.calls;
        kills += after.kills;
        effects += after.effects;
      }
      expect([calls, kills, effects].every((count) => count > RUNS)).toBe(true);
    },
  );
});
