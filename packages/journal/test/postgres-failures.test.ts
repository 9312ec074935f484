import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, readAudit, verifyAudit } from '@toolkeel/journal';
import { startCluster, testJournal, type TestJournal } from '@toolkeel/journal/testing';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  claimed,
  DAY,
  fencingToken,
  owner,
  plain,
  sending,
  success,
} from '../src/store/contract/harness.fixture.js';
import { inChild } from './support/child.js';
import { tablesOf } from './support/postgres-tables.js';

const dataDir = tmpdir();
const open = (url: string) => openStore(url, { dataDir });

describe('a journal in PostgreSQL', () => {
  let journal: TestJournal;
  beforeAll(() => testJournal(), 120_000);
  beforeEach(async () => void (journal = await testJournal()));
  afterEach(() => journal.drop());

  const failureOf = async (url: string): Promise<Error & { reason: string }> => {
    const failed: unknown = await open(url).catch((error: unknown) => error);
    expect(failed).toMatchObject({ name: 'JournalError' });
    expect(String(failed)).not.toContain('hunter2');
    return failed as Error & { reason: string };
  };
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(journal.url);
    url.password = 'hunter2';
    change(url);
    return url.href;
  };

  test('that is unreachable is reported with its address, without the password', async () => {
    const error = await failureOf('postgres://ann:hunter2@127.0.0.1:1/journal');
    expect(error.reason).toBe('unavailable');
    expect(error.message).toBe(
      'The journal in PostgreSQL at 127.0.0.1:1, database journal, schema toolkeel failed (ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1). Nothing was changed. Check that the server runs and that this machine can reach it.',
    );
  });

  test('whose database or user does not exist is reported with advice', async () => {
    const noDatabase = await failureOf(changed((url) => void (url.pathname = '/nowhere')));
    expect(noDatabase.message).toContain('Create that database');
    const noUser = await failureOf(changed((url) => void (url.username = 'nobody_at_all')));
    expect(noUser.message).toContain('Check the user and the password');
  });

  test('that is read-only is refused', async () => {
    const writer = await open(journal.url);
    await writer.audit({ kind: 'x', actor: 'ann' });
    const head = await writer.auditHead();
    await writer.close();
    const url = changed((it) => {
      it.searchParams.set('options', '-c default_transaction_read_only=on');
    });
    const store = await open(url);
    expect(await store.auditHead()).toEqual(head);
    await expect(store.registerOwner(owner(), DAY)).rejects.toMatchObject({ reason: 'read_only' });
    await store.close();
  });

  test('of a newer program is refused and left unchanged', async () => {
    await (await open(journal.url)).close();
    const tables = await tablesOf(journal);
    await tables.query('UPDATE schema_version SET version = 99');
    const error = await failureOf(journal.url);
    expect(error.reason).toBe('schema');
    expect(error.message).toContain(
      'has schema version 99, and this program knows versions up to 9',
    );
    await tables.query('DELETE FROM schema_version');
    expect((await failureOf(journal.url)).reason).toBe('corrupt');
    await tables.close();
  });

  test('in a database without UTF-8 is refused', async () => {
    const client = new pg.Client({ connectionString: journal.server });
    await client.connect();
    const name = `latin_${journal.schema}`;
    await client.query(
      `CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    const error = await failureOf(changed((url) => void (url.pathname = `/${name}`)));
    expect(error.message).toContain('the database uses LATIN1');
    await client.query(`DROP DATABASE ${name}`);
    await client.end();
  });

  test('reports tampering with its audit', async () => {
    const store = await open(journal.url);
    for (let i = 1; i <= 5; i++) await store.audit({ kind: 'x', actor: 'ann', detail: { i } });
    const head = (await store.auditHead())!;
    const tables = await tablesOf(journal);
    await tables.query(`
      UPDATE audit SET detail = 'no longer JSON' WHERE seq = 2;
      DELETE FROM audit WHERE seq = 5`);
    const found = async () =>
      (await verifyAudit(readAudit(store), { expect: head })).problems.map(
        ({ kind, seq }) => `${kind} ${seq}`,
      );
    expect(await found()).toEqual(['malformed 2', 'altered 2', 'cut_off 4']);
    // Later rows do not hide it.
    await store.audit({ kind: 'x', actor: 'ann' });
    expect(await found()).toEqual(['malformed 2', 'altered 2', 'missing 6']);
    await tables.close();
    await store.close();
  });

  test('uses the clock of the database', async () => {
    const store = await open(journal.url);
    // The database runs on this machine. Its times have microseconds.
    const before = Date.now();
    const now = await store.now();
    expect(now).toBeGreaterThanOrEqual(before - 1);
    expect(now).toBeLessThanOrEqual(Date.now() + 1);
    await store.close();
  });

  test.each(['40P01', '40001'])('retries transient errors (%s)', async (code) => {
    const store = await open(journal.url);
    await store.registerOwner(owner(), DAY);
    const operation = await sending(store);
    const tables = await tablesOf(journal);
    // Simulates the error twice; a sequence keeps its value through a rollback.
    await tables.query(`
      CREATE SEQUENCE refusals;
      CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('"${journal.schema}".refusals') <= 2 THEN
          RAISE EXCEPTION 'try again' USING ERRCODE = '${code}';
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON operations FOR EACH ROW EXECUTE FUNCTION refuse()`);
    expect(await store.settle(fencingToken(operation), success())).toBe(true);
    expect(await store.get(operation.id)).toMatchObject({ state: 'succeeded' });
    expect(await tables.query('SELECT last_value::int FROM refusals')).toEqual([{ last_value: 3 }]);
    await tables.close();
    await store.close();
  });

  test('can be created and used by many processes at once', async () => {
    const keys = Array.from({ length: 15 }, (_, index) => `key-${index}`);
    const dir = mkdtempSync(join(dataDir, 'toolkeel-race-'));
    const results = (await Promise.all(
      ['ann', 'bea', 'cid'].map((name) =>
        inChild('race', { url: journal.url, dataDir: dir, owner: name, keys }),
      ),
    )) as { keyId: string; mine: string[] }[];
    expect(new Set(results.map(({ keyId }) => keyId)).size).toBe(1);
    expect(results.flatMap(({ mine }) => mine).toSorted()).toEqual(keys.toSorted());
    rmSync(dir, { recursive: true });
  });
});

describe('a server that stops', () => {
  test('is reported at once, and used again when it is back', { timeout: 120_000 }, async () => {
    const dir = mkdtempSync(join(dataDir, 'toolkeel-stops-'));
    const cluster = await startCluster(dir, process.pid);
    const store = await open(cluster.url);
    await store.registerOwner(owner(), DAY);
    const operation = await claimed(store);
    const waiting = store.wait(operation.id, AbortSignal.timeout(60_000));
    const missed = waiting.catch((error: unknown) => error);

    await cluster.kill();
    await expect(store.send(fencingToken(operation), plain)).rejects.toMatchObject({
      name: 'JournalError',
      reason: 'unavailable',
      maybeDone: false,
    });
    expect(await missed).toMatchObject({ name: 'JournalError', reason: 'unavailable' });

    await cluster.start();
    expect(await store.get(operation.id)).toEqual(operation);
    expect((await store.send(fencingToken(operation), plain)).kind).toBe('sent');
    await store.close();
    await cluster.kill();
    rmSync(dir, { recursive: true });
  });

  test(
    'directly after a granted send still has it, even if the role disables synchronous commits',
    { timeout: 120_000 },
    async () => {
      const dir = mkdtempSync(join(dataDir, 'toolkeel-crash-'));
      const cluster = await startCluster(dir, process.pid);
      const client = new pg.Client({ connectionString: cluster.url });
      await client.connect();
      await client.query('ALTER ROLE CURRENT_USER SET synchronous_commit = off');
      await client.end();
      const store = await open(cluster.url);
      // The test server itself runs without fsync.
      expect(store.caution).toContain('fsync = off');
      await store.registerOwner(owner(), DAY);
      const operation = await sending(store);

      await cluster.kill();
      await cluster.start();
      expect(await store.get(operation.id)).toMatchObject({ state: 'sending' });
      await store.close();
      await cluster.kill();
      rmSync(dir, { recursive: true });
    },
  );
});
