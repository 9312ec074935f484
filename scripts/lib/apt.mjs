import { withLock } from './lock.mjs';
import { withProgress } from './progress.mjs';
import { capture } from './run.mjs';

/**
 * @typedef {{
 *   isRoot: boolean,
 *   isInstalled: () => boolean,
 *   run: (args: string[]) => Promise<{ code: number, output: string }>,
 *   print: (text: string) => void,
 * }} Machine
 * @typedef {{ name: string, package: string, purpose: string, howToInstall: string }} Program
 */

/**
 * Installs a program for the tests if the process is root on a Debian system. Otherwise asks for it before the
 * tests, because the suites that need it fail without it.
 *
 * @param {Program} program
 * @param {Machine} machine
 */
export const ensureProgram = async (program, { isRoot, isInstalled, run, print }) => {
  const { name, package: debianPackage, purpose, howToInstall } = program;
  if (isInstalled()) return;
  if (!isRoot) {
    print(`${name} is missing. ${howToInstall}`);
    return;
  }
  await withProgress(
    () => `installing ${name} for the tests of the ${purpose}`,
    () =>
      withLock(debianPackage, async () => {
        if (isInstalled()) return;
        const install = ['install', '--yes', '--no-install-recommends', debianPackage];
        if ((await run(install)).code === 0) return;
        // The package lists may be absent or out of date.
        await run(['update']);
        const { code, output } = await run(install);
        if (code !== 0)
          print(`apt-get install ${debianPackage} failed:\n${output}\n${howToInstall}`);
      }),
  );
};

/** @param {string[]} args */
export const aptGet = (args) =>
  capture({ file: 'env', args: ['DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args] });
