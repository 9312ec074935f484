import { groups } from '../cases/index.mjs';

/**
 * @typedef {import('./packages.mjs').Library} Library
 * @typedef {(library: Library) => string} PackageFor the alias under which a library is installed
 * @typedef {() => Promise<unknown>} Call
 * @typedef {{ callee: Call, packageFor: PackageFor }} Context
 *
 * @typedef {object} Subject
 * @property {Call} call the timed call
 * @property {unknown} [keep] the object that a program keeps, if it is not the call itself
 * @property {Call} [checked] the call for the self-check, if the timed call has another result type
 */

/**
 * @template {Subject} [S=Subject]
 * @typedef {object} Case one way to call the callee
 * @property {string} name the label in the tables
 * @property {(context: Context) => S | Promise<S>} make creates a new instance
 * @property {(subject: S) => Promise<void>} selfCheck throws unless the timed object provides its
 *   features
 * @property {string} [keeps] a description of the kept object; if present, its heap is measured
 * @property {(packageFor: PackageFor) => string} [bundle] a module with everything that the case uses; if
 *   present, its size is measured
 */

/**
 * @template {Subject} S
 * @param {Case<S>} definition
 */
export const defineCase = (definition) => definition;

/**
 * Loads only the file that defines the case, so that a measurement imports no other library.
 *
 * @param {string} id
 * @returns {Promise<Case>}
 */
export const loadCase = async (id) => {
  const group = groups.find(({ cases }) => cases.includes(id));
  /** @type {{ cases: Record<string, Case> }} */
  const { cases } = await import(`../cases/${group?.file}.mjs`);
  const found = cases[id];
  if (found === undefined) throw new Error(`There is no case "${id}".`);
  return found;
};
