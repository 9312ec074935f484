import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson } from './json.mjs';
import { withLock } from './lock.mjs';
import { unlinkPackagedNode } from './own-node.mjs';
import { root } from './paths.mjs';
import { say, seconds, timed, withProgress } from './progress.mjs';
import { capture, npm } from './run.mjs';

/** @param {string} dir */
const stampPath = (dir) => join(dir, 'node_modules', '.toolkeel-installed');

/**
 * Identifies an installed tree: the hash of the lock file and the Node major version, for native modules.
 *
 * @param {string | Buffer} lockfile
 * @param {string} [nodeVersion]
 */
export const stampOf = (lockfile, nodeVersion = process.versions.node) =>
  `${createHash('sha256').update(lockfile).digest('hex')} node${nodeVersion.split('.')[0]}\n`;

/**
 * Whether the installed tree matches the lock file. Optional packages may be missing: most are binaries for
 * other platforms.
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
 * Installs the dependencies of a folder if they are missing or differ from its lock file.
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
      withLock('install', async () => {
        if (isFresh(dir)) return; // another process installed them while this one waited for the lock
        const { value, ms } = await timed(() => npmCi(dir));
        if (value.code !== 0) throw new Error(`${label} failed (npm ci):\n${value.output}`);
        unlinkPackagedNode();
        writeFileSync(stampPath(dir), stampOf(readFileSync(join(dir, 'package-lock.json'))));
        say(`${label}: done in ${seconds(ms)}`);
      }),
  );
};

/**
 * Tries the cache first, because it is fast and works offline. Its metadata may be older than a requested
 * version, so a failure is retried with the registry.
 *
 * @param {string} dir
 */
const npmCi = async (dir) => {
  // No install scripts: npm 12 blocks them.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional'];
  const quick = await capture(npm([...args, '--prefer-offline']), { cwd: dir });
  return quick.code === 0 ? quick : capture(npm(args), { cwd: dir });
};
