import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from './paths.mjs';
import { withLock } from './lock.mjs';
import { capture, node } from './run.mjs';

const source = inRoot('packages', 'console', 'src');
const output = inRoot('packages', 'console', 'dist', 'public');
const stamp = inRoot('packages', 'console', 'dist', '.built');

/** Builds the page of the console with Vite, unless its sources and dependencies are those of the last build. */
export const buildConsole = async () => {
  const wanted = fingerprint();
  const isFresh = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isFresh()) return { code: 0, output: '' };
  return withLock('console', async () => {
    if (isFresh()) return { code: 0, output: '' };
    // A process of its own: Vite reads the environment and leaves handles open.
    const result = await capture(node([inRoot('scripts', 'lib', 'console-vite.mjs'), output]));
    if (result.code === 0) writeFileSync(stamp, wanted);
    return result;
  });
};

const fingerprint = () => {
  const hash = createHash('sha256').update(readFileSync(inRoot('package-lock.json')));
  hash.update(readFileSync(inRoot('scripts', 'lib', 'console-vite.mjs')));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).toSorted();
  for (const file of files.filter((name) => /\.(tsx?|css|html|svg)$/.test(name)))
    hash.update(`\0${file}\0`).update(readFileSync(join(source, file)));
  return hash.digest('hex');
};
