import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian and its relatives put the servers, which they keep out of the PATH. */
const DEBIAN = '/usr/lib/postgresql';

/** The directory of a PostgreSQL server's programs, the newest first; undefined where there is none. */
export function findPostgres(
  path = process.env['PATH'] ?? '',
  debian = DEBIAN,
): string | undefined {
  return [...path.split(delimiter).filter(Boolean), ...versionsIn(debian)].find((dir) =>
    ['postgres', 'initdb'].every((program) => isProgram(join(dir, program))),
  );
}

function versionsIn(root: string): readonly string[] {
  try {
    return readdirSync(root)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
