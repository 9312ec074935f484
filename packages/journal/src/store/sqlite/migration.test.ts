import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import {
  expectMigrated,
  expectOneAccount,
  journalOfVersion,
  journalWithNames,
} from '../contract/versions.fixture.js';
import type { JournalStore } from '../store.js';
import { chooseDriver } from './drivers.js';
import { sqliteStore } from './store.js';

test.each([1, 2, 3, 4])('migrates a journal of version %i with live rows', async (version) => {
  const store = await opened(journalOfVersion(version, 'sqlite'));
  await expectMigrated(store, version);
});

test('operations recorded under earlier account names are found under the account id', async () => {
  const store = await opened(journalWithNames('sqlite'));
  await expectOneAccount(store);
});

async function opened(statements: readonly string[]): Promise<JournalStore> {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-migration-'));
  const path = join(dir, 'journal.db');
  const driver = (await chooseDriver())(path, 1000);
  driver.exec('PRAGMA application_id = 0x746b6a31');
  for (const statement of statements) driver.exec(statement);
  driver.close();

  const store = await sqliteStore({ path });
  onTestFinished(async () => {
    await store.close();
    rmSync(dir, { recursive: true });
  });
  return store;
}
