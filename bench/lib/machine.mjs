import { arch, availableParallelism, cpus, loadavg, platform } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readJson } from '../../scripts/lib/json.mjs';
import { lines, packagesFor, libraries } from './packages.mjs';

/** The machine, without its host name. */
export const machine = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
  cores: availableParallelism(),
  system: `${platform()} ${arch()}`,
});

/** The load average of the last minute, including this process. */
export const load = () => loadavg()[0] ?? 0;

/** @param {string} alias */
const versionOf = (alias) => {
  const path = fileURLToPath(new URL(`../node_modules/${alias}/package.json`, import.meta.url));
  /** @type {import('../../scripts/lib/json.mjs').Manifest} */
  const { version = '?' } = readJson(path);
  return version;
};

/** @returns {import('./format.mjs').Table} */
export const versionTable = () => ({
  head: ['package', ...lines.map((line) => `on Node ${line}`)],
  rows: [
    ...libraries.map((library) => [
      library,
      ...lines.map((line) => versionOf(packagesFor(line)(library))),
    ]),
    ['esbuild (for the sizes)', ...lines.map(() => versionOf('esbuild'))],
  ],
});
