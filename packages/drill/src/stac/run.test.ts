import { expect, test } from 'vitest';
import { interleave, mapConcurrently, variantOrder } from './run.js';

test('limits concurrency and keeps the order of the results', async () => {
  let inFlight = 0;
  let most = 0;
  const results = await mapConcurrently([5, 1, 4, 2, 3], 2, async (turns) => {
    most = Math.max(most, ++inFlight);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    inFlight--;
    return turns * 10;
  });
  expect(results).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
});

test.for([3, 4])('each of %i variants has every position equally often', (variants) => {
  const orders = Array.from({ length: 2 * variants }, (_, turn) => variantOrder(variants, turn));
  for (let place = 0; place < variants; place++) {
    const here = orders.map((order) => order[place]);
    for (let variant = 0; variant < variants; variant++) {
      expect(here.filter((one) => one === variant)).toHaveLength(2);
    }
  }
});

test.for([
  [48, 3],
  [48, 4],
  [4, 3],
] as const)(
  '%i calls in %i variants: each call once in each variant, never the same call at the same time',
  ([calls, variants]) => {
    const turns = interleave(calls, variants, 7);
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
