import { rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { sep } from 'node:path';
import { inRoot } from './paths.mjs';

/**
 * Removes the `node` link of the packaged newer Node. npm would otherwise run every later command on it instead
 * of the user's Node.
 */
export const unlinkPackagedNode = () => {
  for (const name of ['node', 'node.cmd', 'node.ps1']) {
    rmSync(inRoot('node_modules', '.bin', name), { force: true });
  }
};

/** Restarts on the user's Node if npm started this process on the packaged one. */
export const leavePackagedNode = () => {
  unlinkPackagedNode();
  if (!process.execPath.startsWith(inRoot('node_modules') + sep)) return;
  const { status } = spawnSync('node', process.argv.slice(1), { stdio: 'inherit' });
  process.exit(status ?? 1);
};
