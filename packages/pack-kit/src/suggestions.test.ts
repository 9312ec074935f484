import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { asQuestion, closestMatches, didYouMean } from './suggestions.js';

const tools = ['search_items', 'search_collections', 'get_item', 'get_root'];
const collections = ['sentinel-2-l2a', 'sentinel-2-l1c', 'sentinel-1-grd', 'landsat-c2-l2', 'naip'];
const properties = ['eo:cloud_cover', 'eo:snow_cover', 'view:off_nadir', 'platform', 'gsd'];

describe('closestMatches', () => {
  test.for<[string, string[], string[]]>([
    ['serch_items', tools, ['search_items']],
    ['get_itme', tools, ['get_item']],
    ['getItem', tools, ['get_item']],
    ['search', tools, ['search_items', 'search_collections']],
    ['delete_everything', tools, []],
    ['x'.repeat(101), tools, []],
    ['sentinel2-l2a', collections, ['sentinel-2-l2a']],
    ['SENTINEL-2-L2A', collections, ['sentinel-2-l2a']],
    ['sentinel-2', collections, ['sentinel-2-l2a', 'sentinel-2-l1c']],
    ['nap', collections, ['naip']],
    ['modis', collections, []],
    ['cloud_cover', properties, ['eo:cloud_cover']],
    ['cloudCover', properties, ['eo:cloud_cover']],
    ['eo:cloudcover', properties, ['eo:cloud_cover']],
    ['offNadir', properties, ['view:off_nadir']],
    ['plattform', properties, ['platform']],
    ['x'.repeat(10_000), collections, []],
  ])('for %s in %j returns %j', ([unknown, names, expected]) => {
    expect(closestMatches(unknown, names)).toEqual(expected);
  });

  it('returns at most three names', () => {
    const names = Array.from({ length: 50 }, (_, i) => `a${i}`);
    expect(closestMatches('a1', names)).toHaveLength(3);
  });

  it('bounds the work on a long list', () => {
    const long = Array.from({ length: 50_000 }, (_, i) => `${i}`.repeat(12).slice(0, 64));
    expect(closestMatches('sentinel-2-l2a', [...collections, ...long])).toContain('sentinel-2-l1c');
  });

  it('finds every name with one extra character', () => {
    const typo = fc.tuple(fc.constantFrom(...tools), fc.nat(), fc.constantFrom('x', 'q', '7'));
    fc.assert(
      fc.property(typo, ([name, at, letter]) => {
        const place = at % name.length;
        const wrong = name.slice(0, place) + letter + name.slice(place);
        return closestMatches(wrong, tools).includes(name);
      }),
    );
  });

  it('accepts any string', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (unknown, names) => {
        const found = closestMatches(unknown, names);
        return found.length <= 3 && found.every((name) => names.includes(name));
      }),
    );
  });
});

test('didYouMean asks a question, or returns an empty string', () => {
  expect(didYouMean('cloud_cover', properties)).toBe(' Did you mean "eo:cloud_cover"?');
  expect(asQuestion(['a', 'b'])).toBe(' Did you mean "a" or "b"?');
  expect(didYouMean('entirely-other', properties)).toBe('');
  expect(didYouMean('zzz', tools)).toBe('');
});
