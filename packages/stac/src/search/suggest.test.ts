import { describe, expect, it } from 'vitest';
import { didYouMean, suggestions } from './suggest.js';

const collections = ['sentinel-2-l2a', 'sentinel-2-l1c', 'sentinel-1-grd', 'landsat-c2-l2', 'naip'];
const properties = ['eo:cloud_cover', 'eo:snow_cover', 'view:off_nadir', 'platform', 'gsd'];

describe('suggestions', () => {
  it.each([
    ['sentinel2-l2a', ['sentinel-2-l2a']],
    ['SENTINEL-2-L2A', ['sentinel-2-l2a']],
    ['sentinel-2', ['sentinel-2-l2a', 'sentinel-2-l1c']],
    ['nap', ['naip']],
    ['modis', []],
  ])('for the collection %s are %j', (name, expected) => {
    expect(suggestions(name, collections)).toEqual(expected);
  });

  it.each([
    ['cloud_cover', ['eo:cloud_cover']],
    ['cloudCover', ['eo:cloud_cover']],
    ['eo:cloudcover', ['eo:cloud_cover']],
    ['offNadir', ['view:off_nadir']],
    ['plattform', ['platform']],
  ])('for the property %s are %j', (name, expected) => {
    expect(suggestions(name, properties)).toEqual(expected);
  });

  it('for very different names stop early', () => {
    const hostile = Array.from({ length: 50_000 }, (_, i) => `${i}`.repeat(12).slice(0, 64));
    expect(suggestions('sentinel-2-l2a', [...collections, ...hostile])).toContain('sentinel-2-l1c');
  });

  it('are bounded and formatted as a question', () => {
    expect(suggestions('x'.repeat(10_000), collections)).toEqual([]);
    expect(
      suggestions(
        'a1',
        Array.from({ length: 50 }, (_, i) => `a${i}`),
      ),
    ).toHaveLength(3);
    expect(didYouMean('cloud_cover', properties)).toBe(' Did you mean "eo:cloud_cover"?');
    expect(didYouMean('entirely-other', properties)).toBe('');
  });
});
