import { rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { sep } from 'node:path';
import { inRoot } from './paths.mjs';

/**
 * A newer Node comes as a package, for suites that need one. It links itself as `node` where npm
 * looks first, so that every command after the first would run on it instead of on the user's own.
 */
export const unlinkPackagedNode = () => {
  for (const name of ['node', 'node.cmd', 'node.ps1']) {
    rmSync(inRoot('node_modules', '.bin', name), { force: true });
  }
};

/** Starts over on the user's own Node, where npm has started us on the packaged one. */
export const leavePackagedNode = () => {
  unlinkPackagedNode();
  if (!process.execPath.startsWith(inRoot('node_modules') + sep)) return;
  const { status } = spawnSync('node', process.argv.slice(1), { stdio: 'inherit' });
  process.exit(status ?? 1);
};
