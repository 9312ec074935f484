import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const MIN_MAJOR = 22;
const isWindows = process.platform === 'win32';

/**
 * A Node that the conformance suite runs on: the one that is installed for this platform, or the one
 * that is running.
 */
export const newerNode = (): string => {
  const name = `node-${process.platform}-${process.arch}`;
  const found = installed(name);
  if (found !== undefined && majorOf(found) >= MIN_MAJOR) return found;
  if (majorOf(process.execPath) >= MIN_MAJOR) return process.execPath;
  throw new Error(
    `The conformance suite needs Node ${MIN_MAJOR} or newer. This is ${process.version}, and the ` +
      `optional package ${name} is not installed: run npm ci --include=optional, or use a newer Node.`,
  );
};

const installed = (name: string): string | undefined => {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const path = join(dirname(manifest), 'bin', isWindows ? 'node.exe' : 'node');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
};

const majorOf = (node: string): number => {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1] ?? 0);
};
