/** @typedef {keyof typeof releases} Library */

/** The newest release that supports each Node line, as an alias in package.json. */
const releases = {
  cockatiel: { 20: 'cockatiel3', 24: 'cockatiel4' },
  opossum: { 20: 'opossum9', 24: 'opossum10' },
  'p-retry': { 20: 'p-retry7', 24: 'p-retry9' },
  effect: { 20: 'effect', 24: 'effect' },
  '@smithy/util-retry': { 20: '@smithy/util-retry', 24: '@smithy/util-retry' },
};

/** @typedef {20 | 24} Line a Node release line with thresholds */

/** @type {readonly Line[]} */
export const lines = [20, 24];

/** @param {string} [version] */
export const majorOf = (version = process.versions.node) =>
  Number(version.replace(/^v/, '').split('.')[0]);

/**
 * The alias under which a library's release for this line is installed.
 *
 * @param {Line} line
 * @returns {(library: Library) => string}
 */
export const packagesFor = (line) => (library) => releases[library][line];

/** @type {readonly Library[]} */
export const libraries = /** @type {Library[]} */ (Object.keys(releases));
