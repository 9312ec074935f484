import { afterAll, beforeAll } from 'vitest';
import { testJournal } from '@toolkeel/journal/testing';
import type { Bench } from '../src/store/contract/harness.fixture.js';
import { historyContract } from '../src/store/contract/history.fixture.js';
import { stormContract } from '../src/store/contract/storm.fixture.js';
import { storeContract } from '../src/store/contract/suite.fixture.js';
import { postgresStore } from '../src/store/postgres/store.js';
import type { JournalStore } from '../src/store/store.js';
import { tablesOf, type PostgresTables } from './support/postgres-tables.js';

/** Creating a schema per test took longer than the tests, so they truncate one. */
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
