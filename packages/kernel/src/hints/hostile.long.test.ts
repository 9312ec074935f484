import * as fc from 'fast-check';
import { it } from 'vitest';
import { soundOnAnything } from './hostile.fixture.js';

it('reads 300,000 hostile answers without harm', () => {
  fc.assert(soundOnAnything, { numRuns: 300_000 });
});
