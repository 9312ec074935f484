import { JournalError, type JournalErrorReason } from '../../error.js';

/** SQLite's primary result codes that concern the file. */
const REASONS: Readonly<Record<number, JournalErrorReason>> = {
  // SQLITE_ERROR: a table is missing or was changed.
  1: 'corrupt',
  5: 'unavailable',
  6: 'unavailable',
  8: 'read_only',
  10: 'unavailable',
  11: 'corrupt',
  13: 'full',
  14: 'unavailable',
  26: 'corrupt',
};

const ADVICE: Readonly<Record<string, string>> = {
  unavailable: 'Check the disk, and that the directory still exists.',
  read_only: 'Make the file and its directory writable for this user, or set another journal.url.',
  corrupt:
    'Keep a copy of the file, then restore a backup or set another journal.url. An empty journal has ' +
    'no record of earlier operations and may repeat them.',
  full: 'Free space on that disk. Until then nothing is sent, because it could not be recorded.',
};

/** The primary result code, from the error of either driver. */
function resultCode(error: unknown): number | undefined {
  const { errcode, rawCode } = error as { errcode?: unknown; rawCode?: unknown };
  const code = errcode ?? rawCode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === 5 || code === 6;
}

/** Wraps an error of SQLite in a JournalError; returns other errors unchanged. */
export function sqliteError(error: unknown, path: string): unknown {
  if (error instanceof JournalError) return error;
  const code = resultCode(error);
  if (code === undefined) return error;
  const reason = REASONS[code] ?? 'unavailable';
  const said = (error as Error).message;
  const message = `The journal ${path} could not be used (${said}). Nothing was changed. ${ADVICE[reason]}`;
  return new JournalError(reason, message, { cause: error });
}

export function lockedTooLong(path: string, ms: number, cause: unknown): JournalError {
  return new JournalError(
    'unavailable',
    `The journal ${path} was locked by another process for ${(ms / 1000).toFixed(1)} s. Nothing was ` +
      'changed. Find the process that holds the lock; a backup or another program may have it open.',
    { cause },
  );
}
