import { describe, expect, it } from 'vitest';
import { storm, type Aftermath } from './fixtures/storm.fixture.js';

const RUNS = 80;

/** The violations that a storm must not cause. */
function wrongs({ duplicates, late, lies, limbo, couldKnow }: Aftermath) {
  return { duplicates, late, lies, limbo, couldKnow };
}
const nothing = { duplicates: [], late: [], lies: [], limbo: [], couldKnow: [] };

describe('callers, kills, stops, lost answers and a failing store, in any order', () => {
  it('cause duplicates without a journal, so the storm is effective', async () => {
    const { duplicates } = await storm(1, { journaled: false });
    expect(duplicates).not.toEqual([]);
  });

  it(
    'cause no duplicate and no stuck operation, and every answer is true and in time',
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
