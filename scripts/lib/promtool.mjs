import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { onPath } from './postgres.mjs';
import { say, withProgress } from './progress.mjs';
import { capture } from './run.mjs';

/**
 * @typedef {{
 *   find: () => string | undefined,
 *   hasApt: boolean,
 *   isRoot: boolean,
 *   run: (file: string, args: string[]) => Promise<{ code: number, output: string }>,
 *   unpack: () => Promise<{ code: number, output: string }>,
 *   print: (text: string) => void,
 * }} Machine
 */

const unpacked = join(cacheDir, 'promtool');

/** The path of `promtool`: from the PATH, or as `ensurePromtool` unpacked it. */
export const findPromtool = () => {
  const [dir] = onPath('promtool');
  if (dir !== undefined) return join(dir, 'promtool');
  return existsSync(unpacked) ? unpacked : undefined;
};

/**
 * Unpacks `promtool` for the metrics suite from the Debian package `prometheus` into the cache, because
 * installing the package would start a Prometheus server. Elsewhere asks for it before the
 * tests.
 *
 * @param {Machine} [machine]
 */
export const ensurePromtool = async (machine = thisMachine()) => {
  const { find, hasApt, isRoot, run, unpack, print } = machine;
  if (find() !== undefined) return;
  if (!hasApt) {
    print(
      'promtool is missing. Put it on the PATH (it is part of Prometheus). Without it the test of the metrics fails.',
    );
    return;
  }
  await withProgress(
    () => 'downloading promtool for the tests of the metrics',
    () =>
      withLock('promtool', async () => {
        if (find() !== undefined) return;
        let downloaded = await run('apt-get', ['download', 'prometheus']);
        if (downloaded.code !== 0 && isRoot) {
          // The package lists may be absent or out of date.
          await run('apt-get', ['update']);
          downloaded = await run('apt-get', ['download', 'prometheus']);
        }
        const { code, output } = downloaded.code === 0 ? await unpack() : downloaded;
        if (code !== 0)
          print(`Could not get promtool from the Debian package prometheus:\n${output}`);
      }),
  );
};

/** @returns {Machine} */
const thisMachine = () => {
  const parts = `${unpacked}.parts`;
  return {
    find: findPromtool,
    hasApt: onPath('apt-get').length > 0 && onPath('dpkg-deb').length > 0,
    isRoot: process.getuid?.() === 0,
    run: (file, args) => {
      mkdirSync(parts, { recursive: true });
      return capture({ file, args }, { cwd: parts });
    },
    unpack: async () => {
      const deb = readdirSync(parts).find((name) => name.endsWith('.deb')) ?? '';
      const files = join(parts, 'files');
      const result = await capture({ file: 'dpkg-deb', args: ['-x', join(parts, deb), files] });
      if (result.code === 0) renameSync(join(files, 'usr', 'bin', 'promtool'), unpacked);
      rmSync(parts, { recursive: true, force: true });
      return result;
    },
    print: say,
  };
};
