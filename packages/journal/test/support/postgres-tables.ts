import pg from 'pg';
import type { TestJournal } from '@toolkeel/journal/testing';

/** Direct access to the tables of a journal, on a separate connection. */
export interface PostgresTables {
  readonly query: (text: string) => Promise<readonly Record<string, unknown>[]>;
  readonly empty: () => Promise<void>;
  /** Replaces the clock function of the schema by one that the test advances. */
  readonly stopClock: () => Promise<void>;
  readonly advance: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

const TABLES = [
  'operations',
  'owners',
  'hits',
  'audit',
  'audit_pending',
  'notifications',
  'calls',
  'meta',
  'records',
];
const CHAINS = ['audit_head', 'audit_shards', 'audit_links'];
const START = Date.UTC(2026, 0, 1);

export async function tablesOf({ server, schema }: TestJournal): Promise<PostgresTables> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`SET search_path = "${schema}"`);
  const query = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows;
  return {
    query,
    empty: async () => {
      // The lock waits for processes that link the audit in the background.
      await query(`
        SELECT 1 FROM audit_head FOR UPDATE;
        ${TABLES.map((table) => `DELETE FROM ${table};`).join(' ')}
        ${CHAINS.map((table) => `UPDATE ${table} SET seq = 0, hash = repeat('0', 64);`).join(' ')}
        UPDATE test_clock SET ms = ${START}`);
    },
    stopClock: async () => {
      await query(`
        CREATE TABLE test_clock AS SELECT ${START}::bigint AS ms;
        CREATE OR REPLACE FUNCTION now_ms() RETURNS BIGINT LANGUAGE sql VOLATILE
          AS 'SELECT ms FROM "${schema}".test_clock'`);
    },
    advance: async (ms) => void (await query(`UPDATE test_clock SET ms = ms + ${ms}`)),
    close: () => client.end(),
  };
}
