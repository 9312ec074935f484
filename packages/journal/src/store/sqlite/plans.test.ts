import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { byKey, byTemplate, DAY, LEASE, owner, request } from '../contract/harness.fixture.js';
import { chooseDriver } from './drivers.js';
import { sqliteStore } from './store.js';

test('nothing that is done again and again reads the whole journal', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-plans-'));
  const asked = new Map<string, readonly unknown[]>();
  const open = await chooseDriver();
  const store = await sqliteStore({
    path: join(dir, 'journal.db'),
    driver: (path, busyMs) => {
      const driver = open(path, busyMs);
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

  const driver = open(join(dir, 'journal.db'), 100);
  const scans = [...asked].flatMap(([text, values]) =>
    /^(SELECT|UPDATE|DELETE|INSERT)/.test(text)
      ? driver
          .rows(`EXPLAIN QUERY PLAN ${text}`, values)
          .map(({ detail }) => detail as string)
          // What the limits counted is few, and tidied up once in a while.
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
