import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { withLock } from './lock.mjs';
import { say, withProgress } from './progress.mjs';
import { capture } from './run.mjs';

/**
 * @typedef {{
 *   env: Record<string, string | undefined>,
 *   isRoot: boolean,
 *   isInstalled: () => boolean,
 *   run: (args: string[]) => Promise<{ code: number, output: string }>,
 *   print: (text: string) => void,
 * }} Machine
 */

const HOW_TO_INSTALL =
  'Install it (on Debian: apt-get install postgresql), or set TOOLKEEL_TEST_POSTGRES_URL to a database in which ' +
  'schemas may be created. Without it the tests of the PostgreSQL store fail.';

/**
 * Installs PostgreSQL for the journal's suites if the process is root on a Debian system. Otherwise asks for it
 * before the tests, because those suites fail without it.
 *
 * @param {Machine} [machine]
 */
export const ensurePostgres = async (machine = thisMachine()) => {
  const { env, isRoot, isInstalled, run, print } = machine;
  if (env['TOOLKEEL_TEST_POSTGRES_URL'] || isInstalled()) return;
  if (!isRoot) {
    print(`PostgreSQL is missing. ${HOW_TO_INSTALL}`);
    return;
  }
  await withProgress(
    () => 'installing PostgreSQL for the tests of the journal',
    () =>
      withLock('postgres', async () => {
        if (isInstalled()) return;
        const install = ['install', '--yes', '--no-install-recommends', 'postgresql'];
        if ((await run(install)).code === 0) return;
        // The package lists may be absent or out of date.
        await run(['update']);
        const { code, output } = await run(install);
        if (code !== 0) print(`apt-get install postgresql failed:\n${output}\n${HOW_TO_INSTALL}`);
      }),
  );
};

/** @returns {Machine} */
const thisMachine = () => ({
  env: process.env,
  isRoot: process.getuid?.() === 0 && onPath('apt-get').length > 0,
  isInstalled: () => [...onPath('postgres'), ...debianServers()].length > 0,
  run: (args) =>
    capture({ file: 'env', args: ['DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args] }),
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
