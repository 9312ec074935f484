import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageDirs } from './paths.mjs';
import { capture, tool } from './run.mjs';

/**
 * Compiles what is stale. The compiler never deletes the output of a source file that is gone, so we do:
 * otherwise a removed module would still be importable here and nowhere else.
 *
 * @param {string[]} [projects] further projects to check; those of test/ and scripts/ emit nothing
 */
export const compile = async (projects = []) => {
  for (const dir of packageDirs()) dropOrphans(dir);
  return capture(tool('typescript', ['-b', 'tsconfig.json', ...projects], 'tsc'));
};

/** @param {string} packageDir */
export const dropOrphans = (packageDir) => {
  const dist = join(packageDir, 'dist');
  if (!existsSync(dist)) return;
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const source = join(packageDir, 'src', file.replace(/\.(js|d\.ts)$/, ''));
    if (!existsSync(`${source}.ts`) && !existsSync(`${source}.tsx`)) rmSync(join(dist, file));
  }
};
