import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { slotOf } from '../../slot.js';
import { byKey, byTemplate, claimed, LEASE, owner, request } from '../contract/harness.fixture.js';
import { migrations } from '../sql/schema.js';
import { chooseDriver } from './choose-driver.js';
import { sqliteStore } from './store.js';

test('what an earlier version has written down is found, and what is new is kept beside it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-migration-'));
  const path = join(dir, 'journal.db');
  const driver = (await chooseDriver())(path, 1000);
  driver.exec('PRAGMA application_id = 0x746b6a31');
  for (const statement of migrations({ kind: 'sqlite', prefix: '' }).slice(0, 2).flat()) {
    driver.exec(statement);
  }
  driver.exec('CREATE TABLE schema_version (version INTEGER NOT NULL)');
  driver.exec('INSERT INTO schema_version VALUES (2)');
  const key = byKey();
  driver.rows(
    `INSERT INTO operations (id, slot, account, tool, effect, identity_by, identity_value, args_hash, args, state, fence, correlation_id, created_at, sends, steps)
      VALUES ('op_old', ?, 'main', 'post', 'once', 'key', ?, 'h1', '{}', 'unknown', 1, 'c', 1, 1, '[]')`,
    [slotOf('main', 'post', key), key.value],
  );
  driver.close();

  const store = await sqliteStore({ path });
  await store.enlist(owner(), LEASE);
  for (const again of [{ identity: key }, { identity: byTemplate(), key: key.value }]) {
    expect((await store.claim(request(again))).operation.id).toBe('op_old');
  }
  const named = await claimed(store, { identity: byTemplate(), key: 'key-aaaaaaaaaaaaaaaa' });
  expect(await store.get(named.id)).toEqual(named);
  await store.close();
  rmSync(dir, { recursive: true });
});
