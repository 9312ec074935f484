import { JournalError, type JournalErrorReason } from '../../error.js';

/** The primary result codes of SQLite that say what is wrong with the file. */
const REASONS: Readonly<Record<number, JournalErrorReason>> = {
  // A table is gone, or is not what it was.
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
  unavailable: 'Is the disk in order, and does the directory still exist?',
  read_only: 'Make the file and its directory writable for this user, or name another journal.url.',
  corrupt:
    'Move the file away and keep it, restore a backup, or name another journal.url. With an empty ' +
    'journal nobody knows any more what was already done.',
  full: 'Make room on that disk. Until then nothing is sent, because it could not be recorded.',
};

/** The result code, as either driver tells it. */
function resultCode(error: unknown): number | undefined {
  const { errcode, rawCode } = error as { errcode?: unknown; rawCode?: unknown };
  const code = errcode ?? rawCode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === 5 || code === 6;
}

/** What SQLite said, in words for a person. What is not from SQLite is thrown as it is. */
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
      'changed. Which process holds it? A backup or another program may have it open.',
    { cause },
  );
}
