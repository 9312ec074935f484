import pg from 'pg';

const BIGINT = 20;

/** All whole numbers that we keep fit into a number of JavaScript. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT ? Number : (pg.types.getTypeParser(oid, format) as never),
};

/** Whatever happens, no call waits for ever: each of these limits ends it. */
export function clientSettings(connectionString: string, patienceMs: number): pg.ClientConfig {
  return {
    connectionString,
    application_name: 'toolkeel',
    keepAlive: true,
    types,
    connectionTimeoutMillis: patienceMs / 2,
    lock_timeout: patienceMs / 2,
    statement_timeout: 0.8 * patienceMs,
    idle_in_transaction_session_timeout: 1.5 * patienceMs,
    // Ours, for when the network swallows the server's own answer.
    query_timeout: patienceMs,
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
