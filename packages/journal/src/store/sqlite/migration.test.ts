import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { expectOneAccount, journalWithNames } from '../contract/upgrade.fixture.js';
import { expectToGoOn, journalOfVersion } from '../contract/versions.fixture.js';
import type { JournalStore } from '../store.js';
import { chooseDriver } from './drivers.js';
import { sqliteStore } from './store.js';

test.each([1, 2, 3])('what version %i has written down is gone on with', async (version) => {
  const store = await opened(journalOfVersion(version, 'sqlite'));
  await expectToGoOn(store);
});

test('what was recorded under the names of an account is met under its id', async () => {
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
