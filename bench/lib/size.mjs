import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { packagesFor } from './packages.mjs';

/**
 * @typedef {import('./case.mjs').Case} Case
 * @typedef {{ minified: number, gzipped: number }} Size bytes
 */

/**
 * The size of a bundle with everything that a case uses.
 *
 * @param {string} contents
 * @returns {Promise<Size>}
 */
const sizeOf = async (contents) => {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'], // ES modules give smaller bundles
    target: 'node20',
    legalComments: 'none',
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  return { minified: code.length, gzipped: gzipSync(code, { level: 9 }).length };
};

/**
 * @param {ReadonlyMap<string, Case>} cases
 * @param {readonly import('./packages.mjs').Line[]} lines
 * @returns {Promise<import('./rounds.mjs').ByLine<Size>>}
 */
export const sizeAll = async (cases, lines) => {
  /** @type {import('./rounds.mjs').ByLine<Size>} */
  const sizes = {};
  for (const line of lines) {
    const ofCase = (sizes[line] = /** @type {Record<string, Size>} */ ({}));
    for (const [id, { bundle }] of cases)
      if (bundle) ofCase[id] = await sizeOf(bundle(packagesFor(line)));
  }
  return sizes;
};
