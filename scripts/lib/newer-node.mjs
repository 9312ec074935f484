import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { inRoot } from './paths.mjs';

const minMajor = 22;

/** The platforms that package.json names a Node for. */
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

/** A Node for suites that need a newer one than we do: the one that is installed, or the one that is running. */
export const newerNode = () => {
  const found = installed() ?? (majorOf(process.execPath) >= minMajor ? process.execPath : '');
  if (found) return found;
  throw new Error(
    `This needs Node ${minMajor} or newer. This is ${process.version}, and the optional package ` +
      `${packageName} is not installed: run npm ci --include=optional, or use a newer Node.`,
  );
};

/**
 * Another Node than the one that is running, to run tests on both; undefined where there can be none. On a platform
 * that has one, a missing one is a mistake: a test that is left out without a word is none.
 *
 * @returns {string | undefined}
 */
export const otherNode = () => {
  if (!platforms.includes(platform)) return undefined;
  const found = newerNode();
  return majorOf(found) > majorOf(process.execPath) ? found : undefined;
};
