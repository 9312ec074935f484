import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptGet, ensureProgram } from './apt.mjs';
import { say } from './progress.mjs';

/** @typedef {import('./apt.mjs').Machine & { env: Record<string, string | undefined> }} Machine */

const postgres = {
  name: 'PostgreSQL',
  package: 'postgresql',
  purpose: 'journal',
  howToInstall:
    'Install it (on Debian: apt-get install postgresql), or set TOOLKEEL_TEST_POSTGRES_URL to a database in which ' +
    'schemas may be created. Without it the tests of the PostgreSQL store fail.',
};

/**
 * Finds or installs PostgreSQL for the journal's suites.
 *
 * @param {Machine} [machine]
 */
export const ensurePostgres = async (machine = thisMachine()) => {
  if (!machine.env['TOOLKEEL_TEST_POSTGRES_URL']) await ensureProgram(postgres, machine);
};

/** @returns {Machine} */
const thisMachine = () => ({
  env: process.env,
  isRoot: process.getuid?.() === 0 && onPath('apt-get').length > 0,
  isInstalled: () => [...onPath('postgres'), ...debianServers()].length > 0,
  run: aptGet,
  print: say,
});

/** @param {string} program */
export const onPath = (program) =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((dir) => dir !== '' && existsSync(join(dir, program)));

/** Debian installs servers outside the PATH. */
const debianServers = () => {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  return readdirSync(root).filter((version) => existsSync(join(root, version, 'bin', 'postgres')));
};
