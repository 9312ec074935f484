/**
 * Why a journal request failed.
 * - `unavailable`: the database is unreachable, locked for too long, or the connection was lost.
 * - `full`, `read_only`, `corrupt`: the storage is full, not writable, or damaged.
 * - `schema`: a newer program version wrote the journal.
 * - `key`: the key file is missing, wrong, or readable by other users.
 * - `clock`: the clocks of two processes that share the journal differ too much.
 * - `lapsed`: the owner's lease has expired; a live process registers again.
 * - `invalid`: the request is invalid (a malformed URL, an unknown cursor).
 */
export type JournalErrorReason =
  | 'unavailable'
  | 'full'
  | 'read_only'
  | 'corrupt'
  | 'schema'
  | 'key'
  | 'clock'
  | 'lapsed'
  | 'invalid';

/** The only error type that a store throws. The message says what failed, why, and what to do. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly reason: JournalErrorReason;
  /** True: the connection broke during COMMIT and the result is not known. Otherwise nothing was changed. */
  readonly maybeDone: boolean;

  constructor(
    reason: JournalErrorReason,
    message: string,
    { cause, maybeDone = false }: { readonly cause?: unknown; readonly maybeDone?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.maybeDone = maybeDone;
  }
}

/** Whether a row is unreadable. A list skips or marks such a row and returns the others. */
export function isDamage(error: unknown): error is JournalError {
  return error instanceof JournalError && error.reason === 'corrupt';
}
