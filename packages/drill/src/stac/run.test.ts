import { expect, test } from 'vitest';
import { inLanes, takingTurns, turnOrder } from './run.js';

test('so many at a time, results in the order of what was asked', async () => {
  let underWay = 0;
  let most = 0;
  const results = await inLanes([5, 1, 4, 2, 3], 2, async (turns) => {
    most = Math.max(most, ++underWay);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    underWay--;
    return turns * 10;
  });
  expect(results).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
});

test.for([3, 4])('of %i arms each goes first, last and between as often as the others', (arms) => {
  const orders = Array.from({ length: 2 * arms }, (_, turn) => turnOrder(arms, turn));
  for (let place = 0; place < arms; place++) {
    const here = orders.map((order) => order[place]);
    for (let arm = 0; arm < arms; arm++) {
      expect(here.filter((one) => one === arm)).toHaveLength(2);
    }
  }
});

test.for([
  [48, 3],
  [48, 4],
  [4, 3],
] as const)(
  '%i calls in %i arms: each once in each, the arms in step, none asking the same at once',
  ([calls, arms]) => {
    const turns = takingTurns(calls, arms, 7);
    expect(new Set(turns.map(({ arm, call }) => `${arm} ${call}`)).size).toBe(calls * arms);
    for (let from = 0; from < turns.length; from += arms) {
      const step = turns.slice(from, from + arms);
      expect(new Set(step.map(({ arm }) => arm)).size).toBe(arms);
      expect(new Set(step.map(({ call }) => call)).size).toBe(arms);
    }
  },
);
