import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A cache that git ignores. Unlike node_modules it survives a reinstall. */
export const cacheDir = join(root, '.cache');

/** @param {string[]} parts */
export const inRoot = (...parts) => join(root, ...parts);

/** The folders of all workspace packages, absolute, in alphabetical order. */
export const packageDirs = () =>
  readdirSync(inRoot('packages'))
    .toSorted()
    .map((name) => inRoot('packages', name))
    .filter((dir) => existsSync(join(dir, 'package.json')));
