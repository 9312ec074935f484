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

test.for([3, 4])(
  'of %i variants each goes first, last and between as often as the others',
  (variants) => {
    const orders = Array.from({ length: 2 * variants }, (_, turn) => turnOrder(variants, turn));
    for (let place = 0; place < variants; place++) {
      const here = orders.map((order) => order[place]);
      for (let variant = 0; variant < variants; variant++) {
        expect(here.filter((one) => one === variant)).toHaveLength(2);
      }
    }
  },
);

test.for([
  [48, 3],
  [48, 4],
  [4, 3],
] as const)(
  '%i calls in %i variants: each once in each, the variants in step, none asking the same at once',
  ([calls, variants]) => {
    const turns = takingTurns(calls, variants, 7);
    expect(new Set(turns.map(({ variant, call }) => `${variant} ${call}`)).size).toBe(
      calls * variants,
    );
    for (let from = 0; from < turns.length; from += variants) {
      const step = turns.slice(from, from + variants);
      expect(new Set(step.map(({ variant }) => variant)).size).toBe(variants);
      expect(new Set(step.map(({ call }) => call)).size).toBe(variants);
    }
  },
);
