import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { expectToGoOn, journalOfVersion } from '../contract/versions.fixture.js';
import { chooseDriver } from './choose-driver.js';
import { sqliteStore } from './store.js';

test.each([1, 2])('what version %i has written down is gone on with', async (version) => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-migration-'));
  const path = join(dir, 'journal.db');
  const driver = (await chooseDriver())(path, 1000);
  driver.exec('PRAGMA application_id = 0x746b6a31');
  for (const statement of journalOfVersion(version, 'sqlite')) driver.exec(statement);
  driver.close();

  const store = await sqliteStore({ path });
  await expectToGoOn(store);
  await store.close();
  rmSync(dir, { recursive: true });
});
