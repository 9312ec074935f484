import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson } from '../json.mjs';
import { packageDirs } from '../paths.mjs';
import { capture, npm, tool } from '../run.mjs';

/** @typedef {{ name: string, filename: string, files: { path: string }[] }} Packed */

/** What may lie in a published package beside its compiled modules. */
const expected =
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/.*(?<!\.test)(?<!\.test\.d)\.(js|ts|json|css|html))$/;

/** Packs every public package as `npm publish` would, and looks at the result as a consumer would. */
export const checkTarballs = async () => {
  const publicDirs = packageDirs().filter((dir) => {
    /** @type {import('../json.mjs').Manifest} */
    const manifest = readJson(join(dir, 'package.json'));
    return !manifest.private;
  });
  const temp = mkdtempSync(join(tmpdir(), 'toolkeel-pack-'));
  try {
    const args = [
      'pack',
      ...publicDirs,
      '--json',
      '--ignore-scripts',
      '--loglevel=error',
      '--pack-destination',
      temp,
    ];
    const { code, output } = await capture(npm(args));
    if (code !== 0) return [output];
    const problems = [];
    for (const { name, filename, files } of parsePacked(output)) {
      for (const { path } of files)
        if (!expected.test(path))
          problems.push(`${name}: ${path} does not belong into the package`);
      const tarball = join(temp, filename);
      const looks = await Promise.all([
        capture(tool('publint', ['run', tarball, '--strict'])),
        capture(
          tool(
            '@arethetypeswrong/cli',
            [tarball, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'],
            'attw',
          ),
        ),
      ]);
      for (const look of looks) if (look.code !== 0) problems.push(`${name}:\n${look.output}`);
    }
    return problems;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
};

/**
 * npm up to 11 prints an array, npm 12 an object by package name.
 *
 * @param {string} output
 */
const parsePacked = (output) => {
  /** @type {Packed[] | Record<string, Packed>} */
  const parsed = JSON.parse(output);
  return Object.values(parsed);
};
