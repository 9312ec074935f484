import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { sharedCluster } from './shared-cluster.js';

export interface TestJournal {
  /** For `journal.url`: an empty schema of its own in a real PostgreSQL. */
  readonly url: string;
  readonly schema: string;
  /** For looking around with another client: the server, without a schema. */
  readonly server: string;
  readonly drop: () => Promise<void>;
}

/**
 * An empty journal in PostgreSQL: on the server at `TOOLKEEL_TEST_POSTGRES_URL` if that is set, else
 * on a private one that is started from the programs installed here.
 */
export async function testJournal(): Promise<TestJournal> {
  const server = process.env['TOOLKEEL_TEST_POSTGRES_URL'] ?? (await sharedCluster());
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const url = new URL(server);
  url.searchParams.set('schema', schema);
  return {
    url: url.href,
    schema,
    server,
    drop: () => execute(server, `DROP SCHEMA IF EXISTS "${schema}" CASCADE`),
  };
}

/** One statement on a connection of its own. */
async function execute(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
