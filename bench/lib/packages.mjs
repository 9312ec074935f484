/** @typedef {keyof typeof releases} Rival */

/** Each Node gets the newest release that supports it; an alias of package.json lets both live here. */
const releases = {
  cockatiel: { 20: 'cockatiel3', 24: 'cockatiel4' },
  opossum: { 20: 'opossum9', 24: 'opossum10' },
  'p-retry': { 20: 'p-retry7', 24: 'p-retry9' },
  effect: { 20: 'effect', 24: 'effect' },
  '@smithy/util-retry': { 20: '@smithy/util-retry', 24: '@smithy/util-retry' },
};

/** @typedef {20 | 24} Line a line of Node that the bars speak of */

/** @type {readonly Line[]} */
export const lines = [20, 24];

/** @param {string} [version] */
export const majorOf = (version = process.versions.node) =>
  Number(version.replace(/^v/, '').split('.')[0]);

/**
 * The name under which a rival's release for this line is installed.
 *
 * @param {Line} line
 * @returns {(rival: Rival) => string}
 */
export const packagesFor = (line) => (rival) => releases[rival][line];

/** @type {readonly Rival[]} */
export const rivals = /** @type {Rival[]} */ (Object.keys(releases));
