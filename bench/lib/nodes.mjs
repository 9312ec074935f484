import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lines, majorOf } from './packages.mjs';

/**
 * @typedef {import('./packages.mjs').Line} Line
 * @typedef {{ line: Line, path: string, version: string }} Runtime
 */

const run = promisify(execFile);

/** @param {string} path */
const versionOf = async (path) => {
  const { stdout } = await run(path, ['-p', 'process.versions.node']);
  return stdout.trim();
};

/** @param {Line} line */
const installed = (line) => {
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const name = `node${line}-${process.platform}-${process.arch}`;
  return fileURLToPath(new URL(`../node_modules/${name}/bin/${file}`, import.meta.url));
};

/**
 * A Node of each line: from the command line, the running one, or one from npm.
 *
 * @param {readonly string[]} named paths given on the command line
 * @returns {Promise<{ found: Runtime[], missing: Line[] }>}
 */
export const findNodes = async (named) => {
  const given = await Promise.all(
    named.map(async (path) => ({ path, version: await versionOf(path) })),
  );
  /** @type {Runtime[]} */
  const found = [];
  for (const line of lines) {
    const chosen = given.find(({ version }) => majorOf(version) === line);
    if (chosen) found.push({ line, ...chosen });
    else if (majorOf() === line)
      found.push({ line, path: process.execPath, version: process.versions.node });
    else if (existsSync(installed(line)))
      found.push({ line, path: installed(line), version: await versionOf(installed(line)) });
  }
  return { found, missing: lines.filter((line) => !found.some((node) => node.line === line)) };
};
