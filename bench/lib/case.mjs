/**
 * @typedef {import('./packages.mjs').Rival} Rival
 * @typedef {(rival: Rival) => string} PackageFor the name under which a rival is installed
 * @typedef {() => Promise<unknown>} Call
 * @typedef {{ callee: Call, packageFor: PackageFor }} Context
 *
 * @typedef {object} Subject
 * @property {Call} call what is timed
 * @property {unknown} [keep] what a program keeps for it, where that is not the call itself
 * @property {Call} [checked] the same call for the self-check, where it answers in another form
 */

/**
 * @template {Subject} [S=Subject]
 * @typedef {object} Case one way to call the callee
 * @property {string} name as the tables show it
 * @property {(context: Context) => S | Promise<S>} make builds what is measured, each time anew
 * @property {(subject: S) => Promise<void>} selfCheck throws unless the very object that will be timed does
 *   what it is sold for
 * @property {string} [keeps] what is kept, in words; with this, its heap is measured
 * @property {(packageFor: PackageFor) => string} [bundle] a module with all that the case uses; with this, its
 *   size is measured
 */

/**
 * @template {Subject} S
 * @param {Case<S>} definition
 */
export const defineCase = (definition) => definition;

/**
 * @param {string} id the name of a file in cases/
 * @returns {Promise<Case>}
 */
export const loadCase = async (id) => {
  /** @type {{ default: Case }} */
  const module = await import(`../cases/${id}.mjs`);
  return module.default;
};
