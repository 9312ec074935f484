import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './environment.js';

/** Where an installation keeps what has to outlive a process, if nobody says otherwise. */
export function defaultDataDir(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): string {
  return join(baseDir(env, platform, home), 'toolkeel');
}

function baseDir(env: Environment, platform: NodeJS.Platform, home: string): string {
  if (platform === 'win32') return env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  // Relative paths are to be ignored, says the specification of these directories.
  const given = env['XDG_DATA_HOME'] ?? '';
  return isAbsolute(given) ? given : join(home, '.local', 'share');
}
