import pg from 'pg';
import type { TestJournal } from '@toolkeel/journal/testing';

/** Direct access to a journal's tables, on a separate connection. */
export interface PostgresTables {
  readonly query: (text: string) => Promise<readonly Record<string, unknown>[]>;
  readonly empty: () => Promise<void>;
  /** Replaces the schema's clock function: from then on the clock stands still until it is moved. */
  readonly stopClock: () => Promise<void>;
  readonly advance: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

const TABLES = ['operations', 'owners', 'hits', 'audit', 'notices', 'calls', 'meta'];
const START = Date.UTC(2026, 0, 1);

export async function tablesOf({ server, schema }: TestJournal): Promise<PostgresTables> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`SET search_path = "${schema}"`);
  const query = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows;
  return {
    query,
    empty: async () => {
      await query(`
        ${TABLES.map((table) => `DELETE FROM ${table};`).join(' ')}
        UPDATE audit_head SET seq = 0, prev = '', hash = repeat('0', 64);
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
