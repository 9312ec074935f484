import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { expectRefusal } from '../contract/versions.fixture.js';
import { chooseDriver } from './drivers.js';
import { sqliteStore } from './store.js';

test('a program that runs while a newer one migrates claims and sends nothing more', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-newer-'));
  const path = join(dir, 'journal.db');
  const store = await sqliteStore({ path });
  await expectRefusal(store, async () => {
    const driver = (await chooseDriver())(path, 1000);
    driver.exec('UPDATE schema_version SET version = version + 1');
    driver.close();
  });
  await store.close();
  rmSync(dir, { recursive: true });
});
