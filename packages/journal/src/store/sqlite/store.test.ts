import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournalStore } from '../store.js';
import { storeContract } from '../contract/suite.fixture.js';
import { sqliteStore } from './store.js';

storeContract('SQLite', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-journal-'));
  let now = Date.UTC(2026, 0, 1);
  const opened: JournalStore[] = [];
  const another = async () => {
    const store = await sqliteStore({ path: join(dir, 'journal.db'), now: () => now, calls: 1000 });
    opened.push(store);
    return store;
  };
  return {
    store: await another(),
    another,
    advance: async (ms) => void (now += ms),
    close: async () => {
      for (const store of opened) await store.close();
      rmSync(dir, { recursive: true });
    },
  };
});
