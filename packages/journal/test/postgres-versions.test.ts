import { afterEach, beforeEach, describe, test } from 'vitest';
import { testJournal, type TestJournal } from '@toolkeel/journal/testing';
import { expectToStop } from '../src/store/contract/newer.fixture.js';
import { expectToGoOn, journalOfVersion } from '../src/store/contract/versions.fixture.js';
import { postgresStore } from '../src/store/postgres/store.js';
import { tablesOf, type PostgresTables } from './support/postgres-tables.js';

describe('versions of a journal in PostgreSQL', () => {
  let journal: TestJournal;
  let tables: PostgresTables;
  beforeEach(async () => {
    journal = await testJournal();
    tables = await tablesOf(journal);
  }, 120_000);
  afterEach(async () => {
    await tables.close();
    await journal.drop();
  });

  test.each([1, 2])('what version %i has written down is gone on with', async (version) => {
    await tables.query(`CREATE SCHEMA "${journal.schema}"`);
    for (const statement of journalOfVersion(version, 'postgres')) await tables.query(statement);
    const store = await postgresStore({ url: journal.url });
    await expectToGoOn(store);
    await store.close();
  });

  test('a program that runs while a newer one migrates begins and sends nothing more', async () => {
    const store = await postgresStore({ url: journal.url });
    await expectToStop(store, () =>
      tables.query('UPDATE schema_version SET version = version + 1'),
    );
    await store.close();
  });
});
