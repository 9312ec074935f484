import pg from 'pg';
import { JournalError, type JournalErrorReason } from '../../error.js';

/** Serialization failure, deadlock or unique violation: the transaction can be retried. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && ['40001', '40P01', '23505'].includes(error.code ?? '')
  );
}

/** The connection is broken, so its uncommitted transaction is rolled back. */
export function isLost(error: unknown): boolean {
  if (error instanceof JournalError) return false;
  return (
    !(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || error.severity === 'PANIC'
  );
}

/** The schema or a table does not exist yet. */
export function isMissing(error: unknown): boolean {
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
  full: 'Free space on the disk of the database.',
  read_only: 'The journal needs a primary server and a user that may write there.',
  corrupt: 'The database reports damaged data: restore a backup.',
  '28P01': 'Check the user and the password in journal.url.',
  '28000': 'Check the user and the password in journal.url, and pg_hba.conf on the server.',
  '3D000': 'Create that database, or set another one in journal.url.',
  '53300': 'The server has no connection left: raise its max_connections or start fewer processes.',
  '55P03': 'Another session held a lock for too long.',
  '57014': 'The statement exceeded its timeout.',
  '57P03': 'The server is starting up or shutting down.',
};

/** Wraps an error of the database or the network in a JournalError, without the password. */
export function postgresError(error: unknown, where: string, maybeDone = false): JournalError {
  if (error instanceof JournalError) return error;
  const { code = '', message } = error as Error & { code?: string };
  const reason = REASONS[code] ?? 'unavailable';
  const advice =
    ADVICE[code] ??
    ADVICE[reason] ??
    (isLost(error)
      ? 'Check that the server runs and that this machine can reach it.'
      : 'See the log of the server.');
  const end = maybeDone
    ? 'The connection broke during the commit, and it is unknown whether the change was stored.'
    : 'Nothing was changed.';
  const said = code === '' ? message : `${code}: ${message}`;
  return new JournalError(reason, `The journal in ${where} failed (${said}). ${end} ${advice}`, {
    cause: error,
    maybeDone,
  });
}
