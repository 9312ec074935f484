import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { aptGet, ensureProgram } from './apt.mjs';
import { onPath } from './postgres.mjs';
import { say } from './progress.mjs';

const program = {
  name: 'Chromium',
  package: 'chromium',
  purpose: 'console and guard',
  howToInstall:
    'Install it (on Debian: apt-get install chromium), or set TOOLKEEL_TEST_CHROMIUM to the path of a Chromium or ' +
    'Chrome. Without it the tests of the console and of the guard fail.',
};

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const APPLICATIONS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** @returns {string | undefined} */
const installed = () => {
  const given = process.env['TOOLKEEL_TEST_CHROMIUM'];
  if (given) return given;
  for (const name of NAMES) {
    const [dir] = onPath(name);
    if (dir !== undefined) return join(dir, name);
  }
  return APPLICATIONS.find((path) => existsSync(path));
};

/** The path of the system's Chromium. Throws with instructions if there is none. */
export const findChromium = () => {
  const path = installed();
  if (path === undefined) throw new Error(`${program.name} is missing. ${program.howToInstall}`);
  return path;
};

/** Finds or installs Chromium for the suites of the console. */
export const ensureChromium = async (machine = thisMachine()) => ensureProgram(program, machine);

/** @returns {import('./apt.mjs').Machine} */
const thisMachine = () => ({
  isInstalled: () => installed() !== undefined,
  isRoot: process.getuid?.() === 0 && onPath('apt-get').length > 0,
  run: aptGet,
  print: say,
});
