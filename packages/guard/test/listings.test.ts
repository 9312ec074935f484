import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { hintsDetails, hintsTable } from '../../../scripts/lib/hints.mjs';

it('the table of known servers in the documentation is up to date', () => {
  const page = readFileSync(
    fileURLToPath(new URL('../../../docs/guard-servers.md', import.meta.url)),
    'utf8',
  );
  // After a change: npm run guard:servers -- --write
  expect(page).toContain(hintsTable());
  expect(page).toContain(hintsDetails());
});
