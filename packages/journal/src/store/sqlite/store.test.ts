import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Bench,
  byKey,
  byTemplate,
  DAY,
  LEASE,
  owner,
  request,
} from '../contract/harness.fixture.js';
import { historyContract } from '../contract/history.fixture.js';
import { stormContract } from '../contract/storm.fixture.js';
import { storeContract } from '../contract/suite.fixture.js';
import {
  expectMigrated,
  expectOneAccount,
  expectRefusal,
  journalOfVersion,
  journalWithNames,
} from '../contract/versions.fixture.js';
import type { JournalStore } from '../store.js';
import { chooseDriver } from './drivers.js';
import { sqliteStore } from './store.js';

/** In memory if available: these tests do not need durability. */
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

test.each([1, 2, 3, 4, 5, 6])(
  'migrates a journal of version %i with live rows',
  async (version) => {
    const store = await openAfter(journalOfVersion(version, 'sqlite'));
    await expectMigrated(store, version);
  },
);

test('operations recorded under earlier account names are found under the account id', async () => {
  const store = await openAfter(journalWithNames('sqlite'));
  await expectOneAccount(store);
});

async function openAfter(statements: readonly string[]): Promise<JournalStore> {
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

test('no frequent statement scans a whole table', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-plans-'));
  const asked = new Map<string, readonly unknown[]>();
  const openDriver = await chooseDriver();
  const store = await sqliteStore({
    path: join(dir, 'journal.db'),
    driver: (path, busyMs) => {
      const driver = openDriver(path, busyMs);
      return {
        ...driver,
        rows: (text, values, wants) => {
          asked.set(text, values);
          return driver.rows(text, values, wants);
        },
      };
    },
  });
  asked.clear();
  await store.registerOwner(owner(), DAY);
  await store.renew('alice', LEASE);
  await store.claim(request());
  await store.claim(request({ dedupKey: byTemplate(), key: byKey().value }));
  await store.claim(request({ dedupKey: byTemplate(), key: byKey().value }));
  await store.claim(request({ dedupKey: byKey(), content: 'c' }));
  await store.claim(request({ dedupKey: byKey('key-aaaaaaaaaaaaaaaa'), content: 'c' }));
  const claimed = await store.claim(request({ dedupKey: byKey('key-b'), content: 'd' }));
  await store.markDelivered([{ id: claimed.operation.id, agoMs: 0 }]);
  await store.oldHashes({ accounts: ['main'], tools: ['post'], limit: 10 });
  await store.moveFree(['main'], ['post'], 'x:1');
  await store.list({ states: ['claimed'], owner: 'alice', order: 'oldest' });
  await store.list({ states: ['unknown'], tools: ['post'], stepOpen: false, order: 'oldest' });
  await store.list({ argsHash: 'h1', account: 'main', tool: 'post', holdsDedupKey: true });
  await store.list({ account: 'main', tool: 'post', withoutDedupKey: true });
  await store.sweep();
  await store.takeApproved('alice', ['post']);
  await store.expireApprovals(0);
  await store.takeNotifications(10);
  await store.count(['unknown']);
  await store.count(['awaiting_approval']);
  await store.list({ account: 'main', tool: 'post', holdsDedupKey: true });
  await store.list({ dedupKey: byKey(), account: 'main', tool: 'post', holdsDedupKey: true });
  await store.list({ states: ['unknown', 'awaiting_approval'] });
  await store.list({ states: ['claimed', 'sending', 'unknown'], account: 'main', until: 1 });
  await store.list({ settledSince: 0, account: 'main', until: 1 });
  await store.operatorAuditRows(1, 10);
  await store.prune(0);
  await store.close();

  const driver = openDriver(join(dir, 'journal.db'), 100);
  const scans = [...asked].flatMap(([text, values]) =>
    /^(SELECT|UPDATE|DELETE|INSERT)/.test(text)
      ? driver
          .rows(`EXPLAIN QUERY PLAN ${text}`, values)
          .map(({ detail }) => detail as string)
          // The table of limits is small and scanned rarely.
          .filter((detail) =>
            /^SCAN (operations|o|open|done|audit|calls)\b(?!.*INDEX)/.test(detail),
          )
          .map((detail) => `${detail}: ${text}`)
      : [],
  );
  expect(asked.size).toBeGreaterThan(15);
  expect(scans).toEqual([]);
  driver.close();
  rmSync(dir, { recursive: true });
});

/** SQLite removes its log when the last connection is closed. */
test('a closed store does not keep its files open', async () => {
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
