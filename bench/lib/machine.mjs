import { arch, availableParallelism, cpus, loadavg, platform } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readJson } from '../../scripts/lib/json.mjs';
import { lines, packagesFor, rivals } from './packages.mjs';

/** What a reader must know of the machine, and nothing that names it. */
export const machine = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
  cores: availableParallelism(),
  system: `${platform()} ${arch()}`,
});

/** How many processes wanted to run at once during the last minute, ours included. */
export const load = () => loadavg()[0] ?? 0;

/** @param {string} alias */
const versionOf = (alias) => {
  const path = fileURLToPath(new URL(`../node_modules/${alias}/package.json`, import.meta.url));
  /** @type {import('../../scripts/lib/json.mjs').Manifest} */
  const { version = '?' } = readJson(path);
  return version;
};

/** @returns {import('./table.mjs').Table} */
export const versionTable = () => ({
  head: ['package', ...lines.map((line) => `on Node ${line}`)],
  rows: [
    ...rivals.map((rival) => [rival, ...lines.map((line) => versionOf(packagesFor(line)(rival)))]),
    ['esbuild (for the sizes)', ...lines.map(() => versionOf('esbuild'))],
  ],
});
