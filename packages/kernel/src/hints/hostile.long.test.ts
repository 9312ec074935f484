import * as fc from 'fast-check';
import { it } from 'vitest';
import { soundOnAnything } from './hostile.fixture.js';

it('parses 300,000 hostile responses safely', () => {
  fc.assert(soundOnAnything, { numRuns: 300_000 });
});
