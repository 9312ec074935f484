import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson } from '../json.mjs';
import { inRoot, packageDirs, root } from '../paths.mjs';

/**
 * @typedef {import('../json.mjs').Manifest} Manifest
 * @typedef {import('../json.mjs').Lockfile} Lockfile
 * @typedef {{ path: string, manifest: Manifest }} Named
 */

/** @type {readonly ('dependencies' | 'devDependencies' | 'optionalDependencies')[]} */
const pinned = ['dependencies', 'devDependencies', 'optionalDependencies'];
const exact = /^(npm:(@[^@/]+\/)?[^@/]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;

/**
 * Versions must be exact, and a dependency has the same version in the whole repository.
 *
 * @param {readonly Named[]} manifests
 * @returns {string[]}
 */
export const versionProblems = (manifests) => {
  /** @type {string[]} */
  const problems = [];
  /** @type {Map<string, { version: string, path: string }>} */
  const seen = new Map();
  for (const { path, manifest } of manifests) {
    if (manifest.name && manifest.version)
      seen.set(manifest.name, { version: manifest.version, path });
  }
  for (const { path, manifest } of manifests) {
    const groups = [...pinned.map((group) => manifest[group]), manifest.overrides];
    for (const [name, version] of groups.flatMap((group) => Object.entries(group ?? {}))) {
      if (!exact.test(version))
        problems.push(`${path}: ${name} is "${version}", not an exact version`);
      const first = seen.get(name);
      if (!first) seen.set(name, { version, path });
      else if (first.version !== version)
        problems.push(`${path}: ${name} is ${version}, but ${first.version} in ${first.path}`);
    }
  }
  return problems;
};

/**
 * A published package must say what it is and what it contains. The address of the repository is not known yet.
 *
 * @param {readonly Named[]} manifests
 * @returns {string[]}
 */
export const metadataProblems = (manifests) =>
  manifests
    .filter(({ manifest }) => !manifest.private)
    .flatMap(({ path, manifest }) => {
      const { name = '', version, description, keywords = [], license, files, exports } = manifest;
      const present = {
        version,
        description,
        keywords: keywords.length > 0,
        license,
        files,
        exports,
        'engines.node': manifest.engines?.['node'],
        // npm publishes a scoped package privately otherwise.
        'publishConfig.access': !name.startsWith('@') || manifest.publishConfig?.access,
      };
      const missing = Object.entries(present).flatMap(([field, value]) => (value ? [] : [field]));
      return missing.map((field) => `${path}: ${field} is missing`);
    });

/**
 * The lock file must contain no download URLs, the native packages of every platform, and the same versions as
 * the manifests.
 *
 * @param {string} path
 * @param {Lockfile} lock
 * @param {Record<string, Manifest>} manifests by their keys in the lock file: '' is the root, then 'packages/x'
 * @returns {string[]}
 */
export const lockProblems = (path, lock, manifests) => {
  /** @type {string[]} */
  const problems = [];
  const names = new Set(Object.keys(lock.packages).map((key) => key.split('node_modules/').pop()));
  for (const [key, entry] of Object.entries(lock.packages)) {
    if (entry.resolved && !entry.link)
      problems.push(
        `${path}: ${key} contains a download URL (delete the lock file's "resolved" lines)`,
      );
    const missing = Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !names.has(name),
    );
    if (missing.length > 0)
      problems.push(
        `${path}: ${key} would not work on other platforms, missing ${missing.join(', ')}`,
      );
  }
  for (const [key, manifest] of Object.entries(manifests)) {
    const entry = lock.packages[key];
    for (const group of pinned) {
      const [wanted, locked] = [manifest[group] ?? {}, entry?.[group] ?? {}];
      const changed = [...new Set([...Object.keys(wanted), ...Object.keys(locked)])].filter(
        (name) => wanted[name] !== locked[name],
      );
      if (changed.length > 0)
        problems.push(
          `${path}: is not up to date with ${key || '.'} (${changed.join(', ')}): run npm install`,
        );
    }
  }
  return problems;
};

/**
 * @param {string} dir
 * @returns {Manifest}
 */
const load = (dir) => readJson(join(dir, 'package.json'));

/** Checks the workspace and the projects with their own lock file. */
export const checkManifests = () => {
  const workspace = [root, ...packageDirs()];
  const standalone = [
    'bench',
    'test/claude-cli',
    'test/peers/oldest',
    'test/peers/newest',
    'test/mongodb-server',
  ].map((dir) => [inRoot(dir)]);
  const groups = [workspace, ...standalone].filter(
    ([dir]) => dir && existsSync(join(dir, 'package.json')),
  );
  return groups.flatMap((dirs) => {
    const [top = root] = dirs;
    // An example has no lock file, but depends on the packages of the workspace.
    const examples = top === root ? [inRoot('examples', 'tickets')] : [];
    const manifests = [...dirs, ...examples].map((dir) => ({
      path: relative(root, join(dir, 'package.json')).replaceAll('\\', '/'),
      manifest: load(dir),
    }));
    const keyed = Object.fromEntries(
      dirs.map((dir) => [relative(top, dir).replaceAll('\\', '/'), load(dir)]),
    );
    const lockPath = join(top, 'package-lock.json');
    return [
      ...versionProblems(manifests),
      ...metadataProblems(manifests),
      ...lockProblems(relative(root, lockPath).replaceAll('\\', '/'), readJson(lockPath), keyed),
    ];
  });
};
