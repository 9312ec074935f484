import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { LEASE, owner } from '../contract/harness.fixture.js';
import { sqliteStore } from './store.js';

/** SQLite removes its log when the last connection is gone. */
test('whoever still has a store that is closed does not keep its files open', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-closing-'));
  const store = await sqliteStore({ path: join(dir, 'journal.db') });
  await store.registerOwner(owner(), LEASE);
  await store.close();
  await expect
    .poll(() => {
      collect();
      return readdirSync(dir);
    })
    .toEqual(['journal.db', 'journal.db-head']);
  await expect(store.get('op_1')).rejects.toThrow();
  rmSync(dir, { recursive: true });
});
