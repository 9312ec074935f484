/**
 * Why the journal could not do it.
 * - `unavailable`: the database cannot be reached, is locked for too long, or went away.
 * - `full`, `read_only`, `corrupt`: what is wrong with the place where it is kept.
 * - `schema`: it was written by a newer program.
 * - `key`: the key file is missing, wrong, or readable by others.
 * - `clock`: the clocks of two processes that share it differ too much.
 * - `lapsed`: the owner's lease is over; whoever still lives enlists again.
 * - `invalid`: the request makes no sense (a wrong address, an unknown cursor).
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

/** The one error of a store. The message says what is wrong, where, and what to do. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly reason: JournalErrorReason;
  /**
   * True: the connection broke while the change was being committed, and nobody could be asked how it
   * ended. Otherwise nothing was changed.
   */
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

/** Something cannot be read; where there are many, that is no reason to give up the others. */
export function isDamage(error: unknown): error is JournalError {
  return error instanceof JournalError && error.reason === 'corrupt';
}
