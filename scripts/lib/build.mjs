import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildConsole } from './console.mjs';
import { ensureInstalled } from './install.mjs';
import { packageDirs } from './paths.mjs';
import { withProgress } from './progress.mjs';
import { capture, tool } from './run.mjs';

/**
 * Compiles stale projects, and builds the page of the console. The compiler never deletes the output of a deleted
 * source file, so this does: otherwise a deleted module would still be importable locally.
 *
 * @param {string[]} [projects] additional projects to check; those of test/ and scripts/ emit nothing
 */
export const compile = async (projects = []) => {
  for (const dir of packageDirs()) dropOrphans(dir);
  const compiled = await capture(tool('typescript', ['-b', 'tsconfig.json', ...projects], 'tsc'));
  return compiled.code === 0 ? buildConsole() : compiled;
};

/**
 * The bundler empties its own folder.
 *
 * @param {string} file
 */
const isBundled = (file) => /^public[\\/]/.test(file);

/** @param {string} packageDir */
export const dropOrphans = (packageDir) => {
  const dist = join(packageDir, 'dist');
  if (!existsSync(dist)) return;
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|d\.ts)$/.test(file) || isBundled(file)) continue;
    const source = join(packageDir, 'src', file.replace(/\.(js|d\.ts)$/, ''));
    if (!existsSync(`${source}.ts`) && !existsSync(`${source}.tsx`)) rmSync(join(dist, file));
  }
};

/** Installs the dependencies and compiles the packages. */
export const ready = async () => {
  await ensureInstalled();
  const { code, output } = await withProgress(
    () => 'building',
    () => compile(),
  );
  if (code !== 0) throw new Error(`the build failed:\n${output}`);
};
