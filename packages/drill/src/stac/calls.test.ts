import { describe, expect, test } from 'vitest';
import { argumentsOf, CALLS_PER_BLOCK, planBlocks, spread, toolNames } from './calls.js';
import { materialFixture } from './material.fixture.js';

const material = materialFixture();
const plan = (count: number, seed = 1, tools = toolNames) =>
  planBlocks({ tools, count, seed }, material);

describe('the calls', () => {
  test('cover all twelve tools that send requests', () => {
    expect(toolNames).toHaveLength(12);
  });

  test.for(toolNames)('of %s have unique arguments', (tool) => {
    const all = Array.from({ length: 808 }, (_, n) =>
      JSON.stringify(argumentsOf[tool](n, material)),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  test('of tools that read landing pages name different catalogues within a block', () => {
    for (const { calls } of plan(202)) {
      const names = calls.flatMap(({ args }) =>
        args['catalog'] === undefined ? [] : [args['catalog']],
      );
      expect(new Set(names).size).toBe(4 * CALLS_PER_BLOCK);
    }
  });
});

describe('a block', () => {
  test('contains four calls of each tool, each call once', () => {
    const blocks = plan(50);
    for (const { calls } of blocks) {
      expect(calls).toHaveLength(48);
      for (const tool of toolNames)
        expect(calls.filter((call) => call.tool === tool)).toHaveLength(4);
    }
    const ids = blocks.flatMap(({ calls }) => calls.map(({ tool, n }) => `${tool} ${n}`));
    expect(new Set(ids).size).toBe(2400);
  });

  test('is shuffled, and equal for equal seeds', () => {
    const [block] = plan(1);
    expect(plan(1)).toEqual([block]);
    const order = (seed: number) => plan(1, seed)[0]?.calls.map(({ tool }) => tool);
    expect(order(2)).not.toEqual(order(1));
    expect(order(1)?.slice(0, 4)).not.toEqual(Array.from({ length: 4 }, () => toolNames[0]));
  });

  test('contains only the selected tools', () => {
    expect(
      plan(2, 1, ['get_item'])[1]
        ?.calls.map(({ n }) => n)
        .toSorted(),
    ).toEqual([4, 5, 6, 7]);
  });
});

test('selects evenly spaced items', () => {
  expect(spread([0, 1, 2, 3, 4, 5, 6, 7], 4)).toEqual([0, 2, 4, 6]);
});
