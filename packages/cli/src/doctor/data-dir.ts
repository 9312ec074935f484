import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from './finding.js';

const what = 'data directory';

/** Whether something can be kept there. Looking leaves no trace. */
export function examineDataDir(dir: string, canWrite = isWritable): Finding {
  const closestMatches = nearestThatExists(dir);
  const advice = 'Make it writable for you, or name another with TOOLKEEL_DATA_DIR.';
  if (!statSync(closestMatches).isDirectory()) {
    return { status: 'fail', what, detail: `${closestMatches} is not a directory`, advice };
  }
  if (!canWrite(closestMatches)) {
    return { status: 'fail', what, detail: `${closestMatches} cannot be written`, advice };
  }
  const detail =
    closestMatches === dir ? `${dir} can be written` : `${dir} will be made when it is needed`;
  return { status: 'ok', what, detail };
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function nearestThatExists(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}
