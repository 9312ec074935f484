import { JournalError } from '../../error.js';
import pg from 'pg';

interface PostgresSettings {
  /** As `pg` reads it, without what is ours. */
  readonly connectionString: string;
  /** Where our tables are. */
  readonly schema: string;
  /** For messages: never with the user or the password. */
  readonly where: string;
}

const SCHEMA = 'toolkeel';

/** `postgres://user:password@host:port/database?schema=toolkeel`, and whatever else `pg` understands. */
export function postgresSettings(text: string): PostgresSettings {
  const url = parse(text);
  const schema = url.searchParams.get('schema') ?? SCHEMA;
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
      'journal.url is not an address that can be read. It looks like ' +
        'postgres://user:password@host:5432/database; characters such as "@", "/" or "#" in a ' +
        'password are written in percent form ("%40", "%2F", "%23").',
    );
  }
}

const BIGINT = 20;

/** All whole numbers that we keep fit into a number of JavaScript. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT ? Number : (pg.types.getTypeParser(oid, format) as never),
};

/** Whatever happens, no call waits for ever: each of these limits ends it. */
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
    // Ours, for when the network swallows the server's own answer.
    query_timeout: timeoutMs,
  };
}

export function openPool(settings: pg.ClientConfig, max: number): pg.Pool {
  const pool = new pg.Pool({ ...settings, max });
  const ignore = (): void => {};
  // Whoever uses a connection that breaks learns it from his own statement.
  pool.on('error', ignore);
  pool.on('connect', (client) => void client.on('error', ignore));
  return pool;
}
