import type { JournalStore } from '@toolkeel/journal';
import { testJournal, type TestJournal } from '@toolkeel/journal/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { byContent, byKey, DAY, owner, request } from '../src/store/contract/harness.fixture.js';
import { contentLock } from '../src/store/sql/dialect.js';
import { postgresStore } from '../src/store/postgres/store.js';
import { type PostgresTables, tablesOf } from './support/postgres-tables.js';

let journal: TestJournal;
let tables: PostgresTables;
let late: PostgresTables;
let store: JournalStore;
beforeEach(async () => {
  journal = await testJournal();
  store = await postgresStore({ url: journal.url });
  tables = await tablesOf(journal);
  late = await tablesOf(journal);
  await store.registerOwner(owner(), DAY);
}, 120_000);
afterEach(async () => {
  await store.close();
  await late.close();
  await tables.close();
  await journal.drop();
});

const GATE = 20;
const content = 'some content';

/** Asks whether `alice` may claim that content, in a statement that has begun before `meanwhile` is committed. */
const mayClaimAfter = async (
  ownKey: string,
  meanwhile: () => Promise<unknown>,
): Promise<unknown> => {
  await tables.query(`SELECT pg_advisory_lock(${GATE})`);
  const asked = late.query(
    `WITH gate AS MATERIALIZED (SELECT pg_advisory_xact_lock(${GATE}) IS NULL AS open)
    SELECT may_claim('alice', '${ownKey}', NULL, '${ownKey}', ${contentLock(ownKey)}) AS may FROM gate WHERE NOT open`,
  );
  await vi.waitFor(async () => {
    const waiting = await tables.query(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${GATE} AND NOT granted`,
    );
    expect(waiting).toHaveLength(1);
  }, 10_000);
  await meanwhile();
  await tables.query(`SELECT pg_advisory_unlock(${GATE})`);
  return (await asked)[0]!['may'];
};

const keyOfContent = async (): Promise<string> => {
  const { operation } = await store.claim(request({ dedupKey: byContent(content), content }));
  const [row] = await tables.query(`SELECT dedup_key FROM operations WHERE id = '${operation.id}'`);
  await tables.query('DELETE FROM operations');
  return row!['dedup_key'] as string;
};

test('a claim sees an equal act of another name that was committed after its statement began', async () => {
  const key = await keyOfContent();
  const named = request({ dedupKey: byKey('key-aaaaaaaaaaaaaaaa'), content });
  expect(await mayClaimAfter(key, () => store.claim(named))).toBe(false);
});

test('a claim of content that no operation holds is accepted', async () => {
  const key = await keyOfContent();
  expect(await mayClaimAfter(key, () => Promise.resolve())).toBe(true);
});

test('a claim of content that another transaction claims is refused without waiting', async () => {
  const key = await keyOfContent();
  await tables.query(`SELECT pg_advisory_lock(${contentLock(key)})`);
  expect(
    await late.query(
      `SELECT may_claim('alice', '${key}', NULL, '${key}', ${contentLock(key)}) AS may`,
    ),
  ).toEqual([{ may: false }]);
});
