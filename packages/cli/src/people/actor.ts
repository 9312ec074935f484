import { userInfo } from 'node:os';
import { UsageError } from '../usage-error.js';

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u;

/** Who decides, for the audit: who says so, else the user of this machine. */
export function actorOf(given: string | undefined): string {
  const name = given ?? osUser();
  if (NAME.test(name)) return name;
  throw new UsageError('--by must be a name of at most 100 letters, digits, spaces or . _ @ -');
}

function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    throw new UsageError('Nobody knows who you are here: say it with --by NAME.');
  }
}
