import pg from 'pg';
import { JournalError, type JournalErrorReason } from '../../error.js';

/**
 * Two transactions got into each other's way; the database asks for another try. That somebody has just
 * taken what is unique is seen by then.
 */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && ['40001', '40P01', '23505'].includes(error.code ?? '')
  );
}

/** Nobody answers on this connection any more, so that nothing uncommitted is left of it. */
export function isLost(error: unknown): boolean {
  if (error instanceof JournalError) return false;
  return (
    !(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || error.severity === 'PANIC'
  );
}

/** There is nothing of ours yet, or not all of it. */
export function isMissing(error: unknown): boolean {
  // No such table, no such schema.
  return error instanceof pg.DatabaseError && ['42P01', '3F000'].includes(error.code ?? '');
}

const REASONS: Readonly<Record<string, JournalErrorReason>> = {
  '53100': 'full',
  '25006': 'read_only',
  '42501': 'read_only',
  XX001: 'corrupt',
  XX002: 'corrupt',
};

const ADVICE: Readonly<Record<string, string>> = {
  full: 'Make room on the disk of the database.',
  read_only: 'The journal needs a primary server and a user that may write there.',
  corrupt: 'The database says that its data is damaged: restore a backup.',
  '28P01': 'Check the user and the password in journal.url.',
  '28000': 'Check the user and the password in journal.url, and whether the server lets it in.',
  '3D000': 'Create that database, or name another one in journal.url.',
  '53300': 'The server has no connection left: raise its max_connections or start fewer processes.',
  '55P03': 'Something else held a lock for too long.',
  '57014': 'The database was too slow to answer.',
  '57P03': 'The server is starting up or shutting down.',
};

/** What the database or the network said, in words for a person; never with the password. */
export function postgresError(error: unknown, where: string, maybeDone = false): JournalError {
  if (error instanceof JournalError) return error;
  const { code = '', message } = error as Error & { code?: string };
  const reason = REASONS[code] ?? 'unavailable';
  const advice =
    ADVICE[code] ??
    ADVICE[reason] ??
    (isLost(error) ? 'Is the server running, and can this machine reach it?' : 'See its log.');
  const end = maybeDone
    ? 'The connection broke while a change was being kept, and it is not known whether it was.'
    : 'Nothing was changed.';
  const said = code === '' ? message : `${code}: ${message}`;
  return new JournalError(reason, `The journal in ${where} failed (${said}). ${end} ${advice}`, {
    cause: error,
    maybeDone,
  });
}
