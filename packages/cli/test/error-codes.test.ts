import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packNames } from '../src/packs.js';

// An unlisted code fails every test that observes it. The test of each pack shows that every listed code
// can occur.
it.each(packNames)('%s tests that each listed error code can occur', (pack) => {
  const test = new URL(`../../${pack}/test/error-codes.test.ts`, import.meta.url);
  expect(readFileSync(test, 'utf8')).toMatch(
    /checkObservedCodes\(manifest, observed\)|observeCodes\(/,
  );
});
