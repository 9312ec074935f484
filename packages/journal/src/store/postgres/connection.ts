import pg from 'pg';
import { JournalError } from '../../error.js';

interface PostgresSettings {
  /** The URL for `pg`, without our own parameters. */
  readonly connectionString: string;
  /** The schema of the journal's tables. */
  readonly schema: string;
  /** Names the database in messages, without the user and the password. */
  readonly where: string;
}

const DEFAULT_SCHEMA = 'toolkeel';

/** Parses `postgres://user:password@host:port/database?schema=toolkeel`; other parameters go to `pg`. */
export function postgresSettings(text: string): PostgresSettings {
  const url = parse(text);
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw new JournalError(
      'invalid',
      `journal.url names the schema "${schema}". Use lower-case letters, digits and "_", at most 48, ` +
        'beginning with a letter.',
    );
  }
  url.searchParams.delete('schema');
  const host = url.searchParams.get('host') ?? url.host;
  const database = decodeURIComponent(url.pathname.slice(1)) || '(default database)';
  const where = `PostgreSQL at ${host || 'its default address'}, database ${database}, schema ${schema}`;
  return { connectionString: url.href, schema, where };
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new JournalError(
      'invalid',
      'journal.url is not a valid URL. The format is postgres://user:password@host:5432/database; ' +
        'percent-encode characters such as "@", "/" or "#" in the password ("%40", "%2F", "%23").',
    );
  }
}

const BIGINT = 20;

/** All stored integers are safe integers in JavaScript. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT ? Number : (pg.types.getTypeParser(oid, format) as never),
};

/** Bounds every wait for the server. */
export function clientSettings(connectionString: string, timeoutMs: number): pg.ClientConfig {
  return {
    connectionString,
    application_name: 'toolkeel',
    keepAlive: true,
    types,
    connectionTimeoutMillis: timeoutMs / 2,
    lock_timeout: timeoutMs / 2,
    statement_timeout: 0.8 * timeoutMs,
    idle_in_transaction_session_timeout: 1.5 * timeoutMs,
    // Enforced by the client, in case the network drops the server's answer.
    query_timeout: timeoutMs,
  };
}

export function openPool(settings: pg.ClientConfig, max: number): pg.Pool {
  const pool = new pg.Pool({ ...settings, max, pipeline: true });
  const ignore = (): void => {};
  // The statement in progress on a broken connection fails itself.
  pool.on('error', ignore);
  pool.on('connect', (client) => void client.on('error', ignore));
  return pool;
}
