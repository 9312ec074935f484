import pg from 'pg';

const BIGINT = 20;

/** Whatever happens, no call waits for ever: each of these ends it. */
const LIMITS = {
  connectionTimeoutMillis: 5000,
  lock_timeout: 5000,
  statement_timeout: 8000,
  idle_in_transaction_session_timeout: 15_000,
  // Ours, for when the network swallows the server's own answer.
  query_timeout: 10_000,
} as const;

/** All whole numbers that we keep fit into a number of JavaScript. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT ? Number : (pg.types.getTypeParser(oid, format) as never),
};

export function clientSettings(connectionString: string): pg.ClientConfig {
  return {
    connectionString,
    application_name: 'toolkeel',
    keepAlive: true,
    types,
    ...LIMITS,
  };
}

export function openPool(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({ ...clientSettings(connectionString), max });
  const ignore = (): void => {};
  // Whoever uses a connection that breaks learns it from his own statement.
  pool.on('error', ignore);
  pool.on('connect', (client) => void client.on('error', ignore));
  return pool;
}
