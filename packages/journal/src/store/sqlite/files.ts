import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { JournalError, type JournalErrorReason } from '../../error.js';

const OWNER_ONLY = 0o600;

/** Creates the file and its directory if they are missing, readable by this user only. */
export function prepareFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, OWNER_ONLY);
    const { mode } = fstatSync(file);
    closeSync(file);
    // SQLite creates its own files with the mode of the database.
    if ((mode & 0o077) !== 0) chmodSync(path, OWNER_ONLY);
  } catch (error) {
    throw fileError(error, path);
  }
}

const REASONS: Readonly<Record<string, JournalErrorReason>> = {
  EACCES: 'read_only',
  EPERM: 'read_only',
  EROFS: 'read_only',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

const ADVICE: Readonly<Record<string, string>> = {
  read_only:
    'Make it writable for this user, or set TOOLKEEL_DATA_DIR or journal.url to another place.',
  full: 'Free space on that disk.',
  unavailable: 'Set TOOLKEEL_DATA_DIR or journal.url to another place.',
};

/** Wraps an error of the file system in a JournalError. `maybeDone`: the database was already written. */
export function fileError(
  error: unknown,
  path: string,
  { maybeDone = false }: { readonly maybeDone?: boolean } = {},
): JournalError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = REASONS[code] ?? 'unavailable';
  return new JournalError(
    reason,
    `The journal's file ${path} cannot be ${maybeDone ? 'written' : 'opened for writing'} (${code || message}). ${ADVICE[reason]}`,
    { cause: error, maybeDone },
  );
}

/** Shorter than a commit, during which the file could be removed as well. */
const CHECKED_MS = 0.5;

/**
 * Throws if the file was removed or replaced since it was opened. Writes would still succeed, but no other
 * process would see them, and operations could be repeated.
 */
export function fileGuard(path: string, elapsed: () => number): () => void {
  const opened = statSync(path);
  let checkedAt = -Infinity;
  return () => {
    const at = elapsed();
    if (at - checkedAt < CHECKED_MS) return;
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.ino === opened.ino && now.dev === opened.dev) return void (checkedAt = at);
    throw new JournalError(
      'unavailable',
      `The journal ${path} was removed or replaced while it was in use, and nothing is sent any more. ` +
        'Restore the file if possible, then restart the server.',
    );
  };
}
