import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, closestMatches } from './suggestions.js';

const names = ['search_items', 'search_collections', 'get_item', 'get_root'];

describe('suggestions', () => {
  it('are sorted by distance', () => {
    expect(closestMatches('serch_items', names)).toEqual(['search_items']);
    expect(closestMatches('get_itme', names)[0]).toBe('get_item');
    expect(closestMatches('getItem', names)).toEqual(['get_item']);
    expect(closestMatches('search', names)).toEqual(['search_items', 'search_collections']);
  });

  it('are empty if no name is similar', () => {
    expect(closestMatches('delete_everything', names)).toEqual([]);
    expect(closestMatches('x'.repeat(101), names)).toEqual([]);
    expect(didYouMean('zzz', names)).toBe('');
  });

  it('include every name with one extra letter', () => {
    const slip = fc.tuple(fc.constantFrom(...names), fc.nat(), fc.constantFrom('x', 'q', '7'));
    fc.assert(
      fc.property(slip, ([name, at, letter]) => {
        const place = at % name.length;
        const wrong = name.slice(0, place) + letter + name.slice(place);
        return closestMatches(wrong, names).includes(name);
      }),
    );
  });

  it('accept any string', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (wrong, known) => {
        const found = closestMatches(wrong, known);
        return found.length <= 3 && found.every((name) => known.includes(name));
      }),
    );
  });
});
