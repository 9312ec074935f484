import { expect, it } from 'vitest';
import { UsageError } from './errors.js';
import { choosePacks, packNames } from './packs.js';

it('choosePacks returns the named packs, once', () => {
  expect(choosePacks(['stac', 'stac'], ['x'])).toEqual(['stac']);
});

it('choosePacks defaults to the configured packs, else to all', () => {
  expect(choosePacks([], ['stac'])).toEqual(['stac']);
  expect(choosePacks([], ['misspelt'])).toEqual(packNames);
  expect(choosePacks([])).toEqual(packNames);
});

it('choosePacks refuses an unknown pack with a suggestion', () => {
  expect(() => choosePacks(['stca'])).toThrow(
    new UsageError(`Unknown pack "stca". Did you mean "stac"? Packs: ${packNames.join(', ')}.`),
  );
});
