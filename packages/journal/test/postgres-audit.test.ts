import { exportAudit, readAudit, verifyAudit, type JournalStore } from '@toolkeel/journal';
import { testJournal, type TestJournal } from '@toolkeel/journal/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { GENESIS, link } from '../src/audit/chain.js';
import { byContent, DAY, owner, settled } from '../src/store/contract/harness.fixture.js';
import { journalOfVersion } from '../src/store/contract/versions.fixture.js';
import { postgresStore } from '../src/store/postgres/store.js';
import { type PostgresTables, tablesOf } from './support/postgres-tables.js';

let journal: TestJournal;
let tables: PostgresTables;
beforeEach(async () => {
  journal = await testJournal();
  tables = await tablesOf(journal);
}, 120_000);
afterEach(async () => {
  await tables.close();
  await journal.drop();
});

const open = async (connections = 8): Promise<JournalStore> => {
  const store = await postgresStore({ url: journal.url, connections });
  onTestFinished(() => store.close());
  return store;
};
const verified = (store: JournalStore) => verifyAudit(readAudit(store));
const problemsIn = async (store: JournalStore) =>
  (await verified(store)).problems.map(({ kind, seq }) => `${kind} ${seq}`);

describe('audit rows that are not linked yet', () => {
  /** Holds the lock that linking needs, so that the rows stay in their shard until `change` has run. */
  const beforeLinking = async (store: JournalStore, change: string): Promise<void> => {
    await tables.query('BEGIN; SELECT 1 FROM audit_head FOR UPDATE');
    for (let i = 1; i <= 5; i++) await store.audit({ kind: 'x', actor: 'ann', detail: { i } });
    const [count] = await tables.query('SELECT count(*)::int AS n FROM audit_pending');
    expect(count).toEqual({ n: 5 });
    await tables.query(`${change}; COMMIT`);
  };

  test('are read as part of the chain', async () => {
    const store = await open();
    await beforeLinking(store, 'SELECT 1');
    expect(await verified(store)).toMatchObject({ rows: 5, problemCount: 0 });
    expect(await store.auditHead()).toMatchObject({ seq: 5 });
    expect(await tables.query('SELECT 1 FROM audit_pending')).toEqual([]);
  });

  test.each([
    [
      'altered',
      `UPDATE audit_pending SET detail = '{"i":9}' WHERE detail = '{"i":2}'`,
      'altered 2',
    ],
    ['removed', `DELETE FROM audit_pending WHERE detail = '{"i":2}'`, 'missing 3'],
    // A row is missing even if it was the last one: later rows do not hide it.
    ['removed from the end', `DELETE FROM audit_pending WHERE detail = '{"i":5}'`, 'missing 6'],
    [
      'replaced, with a matching hash',
      `UPDATE audit_pending SET prev = repeat('1', 64), hash = encode(sha256(convert_to(
        '{"actor":"ann","at":' || at || ',"detail":"{\\"i\\":2}","kind":"y","prev":"' || repeat('1', 64) || '","seq":' || seq || '}',
        'UTF8')), 'hex'), kind = 'y' WHERE detail = '{"i":2}'`,
      'altered 2',
    ],
  ])('and %s are reported', async (_, change, expected) => {
    const store = await open();
    await beforeLinking(store, change);
    await store.auditHead();
    await store.audit({ kind: 'x', actor: 'ann' });
    expect(await problemsIn(store)).toContain(expected);
    // The evidence is in the chain itself.
    expect(await problemsIn(await open())).toContain(expected);
  });
});

describe('a journal of version 5', () => {
  /** The statement with which programs of version 5 append a row. */
  const appendAsVersion5 = (actor: string): string => {
    const [front, back] = [`{"actor":"${actor}","at":1,"detail":"{}","kind":"old","prev":`, '}'];
    return `WITH head AS (
        UPDATE audit_head SET seq = seq + 1, prev = hash, hash = encode(sha256(convert_to(
          '${front}"' || hash || '","seq":' || (seq + 1) || '${back}', 'UTF8')), 'hex')
        RETURNING seq, prev, hash
      )
      INSERT INTO audit (seq, prev, hash, at, kind, actor, detail)
      SELECT seq, prev, hash, 1, 'old', '${actor}', '{}' FROM head`;
  };
  const migrated = async (): Promise<JournalStore> => {
    await tables.query(`CREATE SCHEMA "${journal.schema}"`);
    for (const statement of journalOfVersion(5, 'postgres')) await tables.query(statement);
    for (const actor of ['ann', 'bea', 'cid']) await tables.query(appendAsVersion5(actor));
    return open();
  };

  test('keeps its chain, and continues it', async () => {
    const store = await migrated();
    const rows = await store.auditRows(1, 10);
    let head = GENESIS;
    for (const row of rows) {
      const linked = link(head, { at: 1, kind: 'old', actor: row.actor, detail: '{}' });
      expect(row).toEqual(linked);
      head = linked;
    }
    expect(await store.auditHead()).toEqual({ seq: 3, hash: head.hash });
    await store.audit({ kind: 'new', actor: 'ann' });
    const report = await verifyAudit(readAudit(store), { expect: head });
    expect(report).toMatchObject({ rows: 4, problemCount: 0 });
    const exported: string[] = [];
    for await (const line of exportAudit(readAudit(store), { format: 'jsonl' }))
      exported.push(line);
    expect(exported.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([
      'old',
      'old',
      'old',
      'new',
    ]);
  });

  test('to which a program of version 5 still appends stays one chain', async () => {
    const store = await migrated();
    await store.registerOwner(owner(), DAY);
    const older = async (): Promise<void> => {
      for (let i = 0; i < 30; i++) await tables.query(appendAsVersion5(`old-${i}`));
    };
    const newer = async (): Promise<void> => {
      for (let i = 0; i < 15; i++) await settled(store, { dedupKey: byContent(`new-${i}`) });
    };
    const reader = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) expect((await verified(store)).problems).toEqual([]);
    };
    await Promise.all([older(), newer(), reader()]);
    expect(await verified(store)).toMatchObject({ rows: 3 + 30 + 30, problemCount: 0 });
  });
});

test('rows that a program of version 8 has appended and not linked stay in the chain', async () => {
  await tables.query(`CREATE SCHEMA "${journal.schema}"`);
  const statements = journalOfVersion(8, 'postgres', `"${journal.schema}".`);
  for (const statement of statements) await tables.query(statement);
  const append = `SELECT append_audit('{"actor":"ann","at":', ',"detail":"{}","kind":"old","prev":', '}', 1, 'old', NULL, NULL, NULL, 'ann', '{}')`;
  for (let i = 0; i < 3; i++) await tables.query(append);
  const store = await open();
  await tables.query(append);
  await store.audit({ kind: 'new', actor: 'ann' });
  expect(await verified(store)).toMatchObject({ rows: 5, problemCount: 0 });
});

describe('shards', () => {
  const usedShards = () =>
    tables.query('SELECT shard, seq::int AS seq FROM audit_shards WHERE seq > 0');

  test('of two connections differ, and the rows of one connection stay together', async () => {
    const [one, other] = [await open(1), await open(1)];
    await one.registerOwner(owner(), DAY);
    for (const [index, store] of [one, other, one, other].entries())
      await settled(store, { dedupKey: byContent(`act-${index}`) });
    expect((await usedShards()).map(({ seq }) => seq)).toEqual([4, 4]);
    expect(await verified(one)).toMatchObject({ rows: 8, problemCount: 0 });
  });

  test('that are all reserved by other sessions are shared, without a lock that is held for long', async () => {
    const store = await open();
    await store.registerOwner(owner(), DAY);
    await tables.query(
      `SELECT pg_advisory_lock('audit_shards'::regclass::oid::integer, shard) FROM audit_shards`,
    );
    for (let i = 0; i < 3; i++) await settled(store, { dedupKey: byContent(`act-${i}`) });
    expect(await verified(store)).toMatchObject({ rows: 6, problemCount: 0 });
  });
});
