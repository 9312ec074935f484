import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { further, isOnTrail, type Trail } from './trail.js';

/** At which page it is noticed that a list goes in a circle; undefined if it never is. */
function noticedAt(pageAt: (index: number) => string, pages: number): number | undefined {
  let trail: Trail | undefined;
  for (let index = 0; index < pages; index++) {
    const entries = [{ id: pageAt(index) }];
    if (isOnTrail(entries, trail)) return index;
    trail = further(trail, entries);
  }
  return undefined;
}

describe('a trail of pages', () => {
  it('tells a circle of any length, and nothing else', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.integer({ min: 1, max: 60 }), (before, period) => {
        const pageAt = (index: number) =>
          index < before ? `b${index}` : `c${(index - before) % period}`;
        const noticed = noticedAt(pageAt, 1000);
        expect(noticed).toBeGreaterThanOrEqual(before + period);
        expect(noticed).toBeLessThanOrEqual(3 * Math.max(before, period) + period + 2);
      }),
    );
    expect(noticedAt(String, 5000)).toBeUndefined();
  });

  it('notices a short circle as soon as it closes', () => {
    for (let period = 1; period <= 6; period++) {
      expect(noticedAt((index) => String(index % period), 100)).toBe(period);
    }
  });

  it('tells items of one name in two collections apart', () => {
    const trail = further(undefined, [{ id: 'tile', collection: 'a' }]);
    expect(isOnTrail([{ id: 'tile', collection: 'b' }], trail)).toBe(false);
    expect(isOnTrail([{ id: 'tile', collection: 'a' }], trail)).toBe(true);
  });

  it('does not mind empty pages, and stays short', () => {
    expect(further(undefined, [])).toBeUndefined();
    let trail: Trail | undefined;
    for (let page = 0; page < 100; page++) {
      trail = further(further(trail, [{ id: String(page) }]), []);
      expect(isOnTrail([], trail)).toBe(false);
    }
    expect(JSON.stringify(trail).length).toBeLessThan(130);
  });
});
