import { readFileSync } from 'node:fs';

/**
 * @typedef {Record<string, string>} Versions
 * @typedef {{
 *   name?: string, version?: string, private?: boolean, bin?: string | Versions,
 *   description?: string, keywords?: string[], license?: string, files?: string[],
 *   engines?: Versions, exports?: Record<string, unknown>, publishConfig?: { access?: string },
 *   dependencies?: Versions, devDependencies?: Versions, optionalDependencies?: Versions,
 *   peerDependencies?: Versions, overrides?: Versions,
 * }} Manifest
 * @typedef {Manifest & { resolved?: string, link?: boolean, integrity?: string, optional?: boolean }} Locked
 * @typedef {{ packages: Record<string, Locked> }} Lockfile
 */

/**
 * @template T
 * @param {string} path
 * @returns {T}
 */
export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
