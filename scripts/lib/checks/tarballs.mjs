import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../paths.mjs';
import { capture, node, npm } from '../run.mjs';
import { stagePublished } from '../stage.mjs';

/** @typedef {{ name: string, filename: string, files: { path: string }[] }} Packed */

const inspector = inRoot('scripts', 'lib', 'checks', 'inspect-tarballs.mjs');

/** The files allowed in a published package. */
const expected =
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/.+\.(js|ts|json|css|html|svg)|data\/.+\.br)$/;
const forTests = /\.(test|fixture)\.(js|d\.ts)$/;

/** Packs every public package like `npm publish` and inspects the tarballs.  */
export const checkTarballs = async () => {
  const temp = mkdtempSync(join(tmpdir(), 'toolkeel-pack-'));
  try {
    const dirs = await stagePublished();
    const options = ['--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', temp];
    const { code, output, stdout } = await capture(npm(['pack', ...dirs, ...options]));
    if (code !== 0) return [output];
    const packed = parsePacked(stdout);
    const unexpected = packed.flatMap(({ name, files }) =>
      files
        .filter(({ path }) => !expected.test(path) || forTests.test(path))
        .map(({ path }) => `${name}: ${path} does not belong in the package`),
    );
    const tarballs = packed.map(({ filename }) => join(temp, filename));
    const inspection = await capture(node([inspector, ...tarballs]));
    return inspection.code === 0 ? unexpected : [...unexpected, inspection.output];
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
};

/**
 * npm up to 11 prints an array, npm 12 an object by package name.
 *
 * @param {string} json
 */
const parsePacked = (json) => {
  /** @type {Packed[] | Record<string, Packed>} */
  const parsed = JSON.parse(json);
  return Object.values(parsed);
};
