import { afterEach, beforeEach, describe, onTestFinished, test } from 'vitest';
import { testJournal, type TestJournal } from '@toolkeel/journal/testing';
import { expectToStop } from '../src/store/contract/newer.fixture.js';
import { expectToGoOn, journalOfVersion } from '../src/store/contract/versions.fixture.js';
import { expectOneAccount, journalWithNames } from '../src/store/contract/upgrade.fixture.js';
import type { JournalStore } from '../src/store/store.js';
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

  const opened = async (statements: readonly string[]): Promise<JournalStore> => {
    await tables.query(`CREATE SCHEMA "${journal.schema}"`);
    for (const statement of statements) await tables.query(statement);
    const store = await postgresStore({ url: journal.url });
    onTestFinished(() => store.close());
    return store;
  };

  test.each([1, 2, 3])('operations written by version %i are resumed', async (version) => {
    await expectToGoOn(await opened(journalOfVersion(version, 'postgres')));
  });

  test('operations recorded under configured account names are found under the account id', async () => {
    await expectOneAccount(await opened(journalWithNames('postgres')));
  });

  test('a program that runs while a newer one migrates claims and sends nothing more', async () => {
    const store = await postgresStore({ url: journal.url });
    await expectToStop(store, () =>
      tables.query('UPDATE schema_version SET version = version + 1'),
    );
    await store.close();
  });
});
