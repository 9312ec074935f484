import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { inRoot } from './paths.mjs';

const minMajor = 22;

/** The platforms for which package.json has a Node package. */
const platforms = ['darwin-arm64', 'linux-arm64', 'linux-x64', 'win32-x64'];

const platform = `${process.platform}-${process.arch}`;
const packageName = `node-${platform}`;

/** @param {string} node */
const majorOf = (node) => {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1] ?? 0);
};

const installed = () => {
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const path = inRoot('node_modules', packageName, 'bin', file);
  return existsSync(path) && majorOf(path) >= minMajor ? path : undefined;
};

/** A Node for suites that need a newer release: the installed package, or the running Node. */
export const newerNode = () => {
  const found = installed() ?? (majorOf(process.execPath) >= minMajor ? process.execPath : '');
  if (found) return found;
  throw new Error(
    `This needs Node ${minMajor} or newer. This is ${process.version}, and the optional package ` +
      `${packageName} is not installed: run npm ci --include=optional, or use a newer Node.`,
  );
};

/**
 * A newer Node than the running one, to run tests on both; undefined on platforms without a package. On the
 * others a missing package is an error, so that no test is skipped silently.
 *
 * @returns {string | undefined}
 */
export const otherNode = () => {
  if (!platforms.includes(platform)) return undefined;
  const found = newerNode();
  return majorOf(found) > majorOf(process.execPath) ? found : undefined;
};
