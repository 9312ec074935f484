import { bytes, withSpread } from './format.mjs';
import { lines } from './packages.mjs';

/**
 * @typedef {import('./thresholds.mjs').Results} Results
 * @typedef {import('./format.mjs').Table} Table
 * @typedef {ReadonlyMap<string, import('./case.mjs').Case>} Cases
 * @typedef {readonly { title: string, cases: readonly string[] }[]} Groups
 */

/**
 * @template T
 * @param {import('./rounds.mjs').ByLine<T>} results
 * @param {string} id
 * @param {(result: T) => string[]} show
 * @param {number} columns
 */
const cells = (results, id, show, columns) =>
  lines.flatMap((line) => {
    const result = results[line]?.[id];
    return result === undefined ? Array.from({ length: columns }, () => '–') : show(result);
  });

/**
 * @param {Results} results
 * @param {Cases} cases
 * @param {Groups} groups
 * @returns {Table}
 */
export const costTable = ({ costs }, cases, groups) => ({
  head: ['one successful call', ...lines.flatMap((line) => [`Node ${line}: × bare`, 'added µs'])],
  rows: groups.flatMap(({ title, cases: ids }) => {
    const rows = ids
      .filter((id) => cases.has(id))
      .map((id) => [
        cases.get(id)?.name ?? id,
        ...cells(costs, id, (c) => [withSpread(c.ratio), withSpread(c.addedUs)], 2),
      ]);
    return rows.length > 0 ? [[title], ...rows] : [];
  }),
});

/**
 * @param {Results} results
 * @param {Cases} cases
 * @returns {Table}
 */
export const heapTable = ({ heaps }, cases) => ({
  head: ['heap of one instance', 'contents', ...lines.map((line) => `Node ${line}`)],
  words: [1],
  rows: [...cases]
    .filter(([, { keeps }]) => keeps !== undefined)
    .map(([id, { name, keeps = '' }]) => [
      name,
      keeps,
      ...cells(heaps, id, ({ median }) => [bytes(median)], 1),
    ]),
});

/**
 * @param {Results} results
 * @param {Cases} cases
 * @returns {Table}
 */
export const sizeTable = ({ sizes }, cases) => ({
  head: ['bundle', ...lines.flatMap((line) => [`for Node ${line}: minified`, 'gzipped'])],
  rows: [...cases]
    .filter(([, { bundle }]) => bundle !== undefined)
    .map(([id, { name }]) => [
      name,
      ...cells(sizes, id, ({ minified, gzipped }) => [bytes(minified), bytes(gzipped)], 2),
    ]),
});

/**
 * @param {readonly import('./thresholds.mjs').Judgement[]} judgements
 * @returns {Table}
 */
export const thresholdTable = (judgements) => ({
  head: ['threshold', 'measured', 'result'],
  words: [2],
  rows: judgements.map(({ threshold, measured, status }) => [threshold, measured, status]),
});

/**
 * A figure of the bare call, for each Node line.
 *
 * @param {Results} results
 * @param {(bare: import('./rounds.mjs').Cost) => string} show
 */
export const ofBare = ({ costs }, show) =>
  lines
    .flatMap((line) => {
      const bare = costs[line]?.['bare'];
      return bare ? [`${show(bare)} on Node ${line}`] : [];
    })
    .join(', ');
