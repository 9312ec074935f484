import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packNames } from '../src/packs.js';

// A tool that answers with a code that it does not list fails every test that sees it: the run refuses
// such an answer. That every listed code can really happen is for the test of its pack to show.
it.each(packNames)('%s shows that each of its tools can answer with what it lists', (pack) => {
  const test = new URL(`../../${pack}/test/error-codes.test.ts`, import.meta.url);
  expect(readFileSync(test, 'utf8')).toMatch(/checkObservedCodes\(manifest, observed\)/);
});
