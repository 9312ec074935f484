import { spawnSync } from 'node:child_process';
import { platform } from 'node:os';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Somebody else to be, where we are root: PostgreSQL will not run as root. */
export function unprivileged(): User | undefined {
  if (platform() === 'win32' || process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error(
    'root cannot run PostgreSQL, and there is neither a user "postgres" nor "nobody"',
  );
}

function idOf(flag: string, name: string): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}
