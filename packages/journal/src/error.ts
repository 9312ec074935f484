/**
 * Why the journal could not do it.
 * - `unavailable`: the database cannot be reached, is locked for too long, or went away.
 * - `full`, `read_only`, `corrupt`: what is wrong with the place where it is kept.
 * - `schema`: it was written by a newer program.
 * - `key`: the key file is missing, wrong, or readable by others.
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
  | 'lapsed'
  | 'invalid';

/** The one error of a store. Nothing was changed; the message says what is wrong, where, and what to do. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly reason: JournalErrorReason;

  constructor(reason: JournalErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
