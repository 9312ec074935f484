import fc from 'fast-check';
import { jitteredBackoff, presets } from '@toolkeel/kernel';
import { describe, expect, it } from 'vitest';
import { errorOf, overload, question, scripted } from './scripted-provider.fixture.js';

const { llm } = presets;
const wait = (attempt: number, random: number): number =>
  jitteredBackoff(attempt, llm, { random: () => random });

/**
 * tenacity's `wait_random_exponential(min=2, max=30)` after attempt n, in seconds: 8.2 draws from zero and
 * ignores `min` (measured: 0 to 2, 0 to 2, 0 to 4 s); 9.1 draws from `min` (measured: 2.0, 2.0, 2 to 4 s).
 */
const tenacity = (attempt: number, random: number, lowest: number): number => {
  const high = Math.max(2, Math.min(30, 2 ** attempt));
  return lowest + random * (high - lowest);
};

describe('the waits between attempts', () => {
  it('are inside 2 to 30 s, whatever the draw', () => {
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat({ max: 100 }), draw, (attempt, random) => {
        const ms = wait(attempt, random);
        expect(ms).toBeGreaterThanOrEqual(2_000);
        expect(ms).toBeLessThanOrEqual(30_000);
      }),
    );
  });

  it('differ from draw to draw and grow', () => {
    fc.assert(
      fc.property(fc.nat({ max: 100 }), (attempt) => {
        expect(wait(attempt, 0.9)).toBeGreaterThan(wait(attempt, 0.1));
        expect(wait(attempt + 1, 0.5)).toBeGreaterThanOrEqual(wait(attempt, 0.5));
      }),
    );
  });

  it('compare with tenacity as the documentation says', () => {
    const range = (low: number, high: number): string => `${low} to ${high} s`;
    const rows = [0, 1, 2, 3, 4].map((attempt) => [
      range(wait(attempt, 0) / 1000, wait(attempt, 1) / 1000),
      range(tenacity(attempt, 0, 0), tenacity(attempt, 1, 0)),
      range(tenacity(attempt, 0, 2), tenacity(attempt, 1, 2)),
    ]);
    // Ours, tenacity 8.2, tenacity 9.1. Three attempts have two waits: only ours have jitter from 2 s on.
    expect(rows).toEqual([
      ['2 to 4 s', '0 to 2 s', '2 to 2 s'],
      ['2 to 8 s', '0 to 2 s', '2 to 2 s'],
      ['2 to 16 s', '0 to 4 s', '2 to 4 s'],
      ['2 to 30 s', '0 to 8 s', '2 to 8 s'],
      ['2 to 30 s', '0 to 16 s', '2 to 16 s'],
    ]);
  });

  it('are what a model really waits', async () => {
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    await fc.assert(
      fc.asyncProperty(draw, async (random) => {
        const { model, clock, requests } = scripted([[overload]], { random: () => random });
        await clock.run(errorOf(model.complete(question)));
        const [first = 0, second = 0, third = 0] = requests.map(({ at }) => at);
        expect(second - first).toBeCloseTo(wait(0, random), 6);
        expect(third - second).toBeCloseTo(wait(1, random), 6);
      }),
      { numRuns: 30 },
    );
  });
});
