import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { JournalError, type JournalErrorReason } from '../../error.js';

const OWNER_ONLY = 0o600;

/** Makes the file and its directory where they are missing, for this user's eyes only. */
export function prepareFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, OWNER_ONLY);
    const { mode } = fstatSync(file);
    closeSync(file);
    // What SQLite puts beside it gets the same mode.
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
  full: 'Make room on that disk.',
  unavailable: 'Set TOOLKEEL_DATA_DIR or journal.url to another place.',
};

/** What the file system said, in words for a person. `maybeDone`: the journal itself was written. */
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

/** Less than a commit to the disk takes, during which the file could be removed as well. */
const CHECKED_MS = 0.5;

/**
 * A database whose file was removed or replaced takes what is written and shows it to nobody else: the
 * next process would not know of it, and would act again. So it is not used any more.
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
      `The journal ${path} was removed or replaced while it was in use. Nothing is sent any more. ` +
        'Bring it back if you can, then start the server anew.',
    );
  };
}
