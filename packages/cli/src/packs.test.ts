import { expect, it } from 'vitest';
import { choosePacks, packNames } from './packs.js';
import { UsageError } from './errors.js';

it('takes what was named, once', () => {
  expect(choosePacks(['stac', 'stac'], ['x'])).toEqual(['stac']);
});

it('takes what the configuration speaks of where nothing was named, and all where it speaks of none', () => {
  expect(choosePacks([], ['stac'])).toEqual(['stac']);
  expect(choosePacks([], ['misspelt'])).toEqual(packNames);
  expect(choosePacks([])).toEqual(packNames);
});

it('refuses what does not exist, with what may have been meant', () => {
  expect(() => choosePacks(['stca'])).toThrow(
    new UsageError('There is no pack "stca". Did you mean "stac"? Packs: stac, x.'),
  );
});
