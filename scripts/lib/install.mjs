import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson } from './json.mjs';
import { exclusively } from './lock.mjs';
import { unlinkPackagedNode } from './own-node.mjs';
import { root } from './paths.mjs';
import { say, seconds, timed, withProgress } from './progress.mjs';
import { capture, npm } from './run.mjs';

/** @param {string} dir */
const stampPath = (dir) => join(dir, 'node_modules', '.toolkeel-installed');

/**
 * What the installed tree must have been made from: the lock file and the Node that native parts fit.
 *
 * @param {string | Buffer} lockfile
 * @param {string} [nodeVersion]
 */
export const stampOf = (lockfile, nodeVersion = process.versions.node) =>
  `${createHash('sha256').update(lockfile).digest('hex')} node${nodeVersion.split('.')[0]}\n`;

/**
 * Has npm, run by hand, already put there what the lock file asks for? Parts that are optional may be missing:
 * most of them are other platforms' binaries.
 *
 * @param {import('./json.mjs').Lockfile} wanted
 * @param {import('./json.mjs').Lockfile} installed npm's own record, node_modules/.package-lock.json
 */
export const holdsAll = (wanted, installed) =>
  Object.entries(wanted.packages).every(([path, { version, integrity, link, optional }]) => {
    if (!path.includes('node_modules/')) return true;
    const found = installed.packages[path];
    if (!found) return optional === true;
    return link ? found.link === true : found.version === version && found.integrity === integrity;
  });

/** @param {string} dir */
const isFresh = (dir) => {
  const lockPath = join(dir, 'package-lock.json');
  const stamp = stampOf(readFileSync(lockPath));
  if (existsSync(stampPath(dir))) {
    const found = readFileSync(stampPath(dir), 'utf8');
    if (found === stamp) return true;
    if (found.split(' ')[1] !== stamp.split(' ')[1]) return false;
  }
  const record = join(dir, 'node_modules', '.package-lock.json');
  if (!existsSync(record) || !holdsAll(readJson(lockPath), readJson(record))) return false;
  writeFileSync(stampPath(dir), stamp);
  return true;
};

/**
 * Installs the dependencies of a folder if they are missing or not what its lock file says.
 *
 * @param {string} [dir]
 */
export const ensureInstalled = async (dir = root) => {
  if (isFresh(dir)) return;
  const where = relative(root, dir);
  const label = where ? `installing dependencies of ${where}` : 'installing dependencies';
  await withProgress(
    () => label,
    () =>
      exclusively('install', async () => {
        if (isFresh(dir)) return; // another process did it while we waited for the lock
        const { value, ms } = await timed(() => npmCi(dir));
        if (value.code !== 0) throw new Error(`${label} failed (npm ci):\n${value.output}`);
        unlinkPackagedNode();
        writeFileSync(stampPath(dir), stampOf(readFileSync(join(dir, 'package-lock.json'))));
        say(`${label}: done in ${seconds(ms)}`);
      }),
  );
};

/**
 * The cache first, because it is quick and works without a network. What it knows of a package may be
 * older than the version that we ask for, so a failure is tried again with the registry.
 *
 * @param {string} dir
 */
const npmCi = async (dir) => {
  // No install scripts: npm 12 blocks them, so nothing here may need one on any npm.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional'];
  const quick = await capture(npm([...args, '--prefer-offline']), { cwd: dir });
  return quick.code === 0 ? quick : capture(npm(args), { cwd: dir });
};
