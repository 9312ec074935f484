import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { owner, type Bench } from '../contract/harness.fixture.js';
import { historyContract } from '../contract/history.fixture.js';
import { stormContract } from '../contract/storm.fixture.js';
import { storeContract } from '../contract/suite.fixture.js';
import type { JournalStore } from '../store.js';
import { sqliteStore } from './store.js';

/** In memory where that can be had: what survives a power cut is not the question here. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** All owners of the contract belong to one process. */
const processes = { self: () => owner(), isRunning: () => true };

async function open(): Promise<Bench> {
  const dir = mkdtempSync(join(scratch, 'toolkeel-journal-'));
  let now = Date.UTC(2026, 0, 1);
  const opened: JournalStore[] = [];
  const another = async () => {
    const path = join(dir, 'journal.db');
    const store = await sqliteStore({ path, now: () => now, calls: 1000, processes });
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
}

storeContract('SQLite', open);
historyContract('SQLite', open, 25);
stormContract('SQLite', open, 12);
