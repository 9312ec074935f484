import { testJournal, type TestJournal } from '@toolkeel/journal/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, onTestFinished, test } from 'vitest';
import type { Bench } from '../src/store/contract/harness.fixture.js';
import { historyContract } from '../src/store/contract/history.fixture.js';
import { stormContract } from '../src/store/contract/storm.fixture.js';
import { storeContract } from '../src/store/contract/suite.fixture.js';
import {
  expectMigrated,
  expectOneAccount,
  expectRefusal,
  journalOfVersion,
  journalWithNames,
} from '../src/store/contract/versions.fixture.js';
import { postgresStore } from '../src/store/postgres/store.js';
import type { JournalStore } from '../src/store/store.js';
import { type PostgresTables, tablesOf } from './support/postgres-tables.js';

/** Creating a schema takes longer than a test, so the tests empty one schema instead. */
let stores: readonly JournalStore[];
let tables: PostgresTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  const journal = await testJournal();
  const open = () => postgresStore({ url: journal.url, calls: 1000, connections: 3 });
  stores = await Promise.all([open(), open(), open()]);
  tables = await tablesOf(journal);
  await tables.stopClock();
  drop = journal.drop;
}, 120_000);

afterAll(async () => {
  for (const store of stores) await store.close();
  await tables.close();
  await drop();
});

async function bench(): Promise<Bench> {
  await tables.empty();
  let used = 0;
  const another = async () => stores[used++ % stores.length]!;
  return { store: await another(), another, advance: tables.advance, close: async () => {} };
}

storeContract('PostgreSQL', bench);
historyContract('PostgreSQL', bench, 25);
stormContract('PostgreSQL', bench, 12);

describe('migrations of a journal in PostgreSQL', () => {
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

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'migrates a journal of version %i with live rows',
    async (version) => {
      await expectMigrated(
        await opened(journalOfVersion(version, 'postgres', `"${journal.schema}".`)),
        version,
      );
    },
  );

  test('operations recorded under earlier account names are found under the account id', async () => {
    await expectOneAccount(await opened(journalWithNames('postgres')));
  });

  test('a program that runs while a newer one migrates claims and sends nothing more', async () => {
    const store = await postgresStore({ url: journal.url });
    await expectRefusal(store, () =>
      tables.query('UPDATE schema_version SET version = version + 1'),
    );
    await store.close();
  });
});
