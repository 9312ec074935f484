import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from './nearest.js';

const names = ['search_items', 'search_collections', 'get_item', 'get_root'];

describe('the nearest names', () => {
  it('come with the likeliest first', () => {
    expect(nearest('serch_items', names)).toEqual(['search_items']);
    expect(nearest('get_itme', names)[0]).toBe('get_item');
    expect(nearest('getItem', names)).toEqual(['get_item']);
    expect(nearest('search', names)).toEqual(['search_items', 'search_collections']);
  });

  it('are none where nothing is near', () => {
    expect(nearest('delete_everything', names)).toEqual([]);
    expect(nearest('x'.repeat(101), names)).toEqual([]);
    expect(didYouMean('zzz', names)).toBe('');
  });

  it('find every name that has one letter too much', () => {
    const slip = fc.tuple(fc.constantFrom(...names), fc.nat(), fc.constantFrom('x', 'q', '7'));
    fc.assert(
      fc.property(slip, ([name, at, letter]) => {
        const place = at % name.length;
        const wrong = name.slice(0, place) + letter + name.slice(place);
        return nearest(wrong, names).includes(name);
      }),
    );
  });

  it('survive any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (wrong, known) => {
        const found = nearest(wrong, known);
        return found.length <= 3 && found.every((name) => known.includes(name));
      }),
    );
  });
});
