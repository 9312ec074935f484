import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, readAudit, verifyAudit } from '@toolkeel/journal';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  byContent,
  claimed,
  DAY,
  fencingToken,
  newId,
  owner,
  plain,
  request,
} from '../src/store/contract/harness.fixture.js';
import { chooseDriver, type OpenDriver, type SqliteDriver } from '../src/store/sqlite/drivers.js';
import { sqliteStore } from '../src/store/sqlite/store.js';
import { inChild } from './support/child.js';

describe('a journal in SQLite', () => {
  let dir: string;
  let path: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-failures-'));
    // Some of these tests drop privileges in a child process.
    chmodSync(dir, 0o755);
    path = join(dir, 'journal.db');
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const open = () => openStore(`sqlite:${path}`, { dataDir: dir });
  const raw = async (text: string) => {
    const driver = (await chooseDriver())(path, 1000);
    driver.exec(text);
    driver.close();
  };

  /** A disk of one megabyte that only the child sees; undefined without the privilege to mount. */
  const smallDisk = (): readonly string[] | undefined => {
    const mount = `mount -t tmpfs -o size=1m tmpfs ${dir}`;
    return [['-m'], ['-rm']]
      .map((flags) => ['unshare', ...flags, 'sh', '-c'])
      .find(([program, ...args]) => spawnSync(program!, [...args, mount]).status === 0)
      ?.concat(`${mount} && exec "$0" "$@"`);
  };

  test.each([
    ['removed', () => undefined],
    ['replaced', (file: string) => writeFileSync(file, '')],
  ])('whose file was %s while it was open refuses every write', async (_, then) => {
    let elapsedMs = 0;
    const store = await sqliteStore({ path, elapsed: () => (elapsedMs += 1) });
    await store.registerOwner(owner(), DAY);
    const first = await claimed(store);
    rmSync(path);
    then(path);
    const refusal = { reason: 'unavailable', message: expect.stringContaining(path) };
    await expect(store.claim(request())).rejects.toMatchObject(refusal);
    await expect(store.send(fencingToken(first), plain)).rejects.toMatchObject(refusal);
    await store.close();
  });

  test('on a full disk refuses writes, keeps its data, and continues when there is space', async () => {
    const disk = smallDisk();
    // Without the privilege to mount, a limit of the file size replaces the disk.
    const wrapper = disk ?? ['sh', '-c', 'ulimit -f 1500; exec "$0" "$@"'];
    const filler = disk && { filler: join(dir, 'filler') };
    const result = await inChild('fill', { path, ...filler }, wrapper);
    expect(result).toMatchObject({
      half: null,
      failure: {
        reason: disk ? 'full' : 'unavailable',
        message: expect.stringContaining(`The journal ${path} could not be used`) as string,
      },
    });
    const { kept, found, after } = result as { kept: number; found: number; after: unknown };
    expect(kept).toBeGreaterThan(0);
    expect(found).toBe(kept);
    if (disk) expect(after).toBe('written');
    else expect(after).toMatchObject({ reason: 'unavailable' });
  });

  test('in a directory that is not writable is reported with advice', async () => {
    const locked = join(dir, 'locked');
    mkdirSync(locked, { mode: 0o555 });
    const existing = join(dir, 'existing.db');
    await (await openStore(`sqlite:${existing}`, { dataDir: dir })).close();
    chmodSync(existing, 0o444);
    const failures = await inChild('powerless', {
      warmUp: join(dir, 'warm.db'),
      paths: [join(locked, 'journal.db'), existing, join(locked, 'deep', 'journal.db')],
    });
    expect(failures).toEqual(
      [join(locked, 'journal.db'), existing, join(locked, 'deep', 'journal.db')].map((file) => ({
        reason: 'read_only',
        message: `The journal's file ${file} cannot be opened for writing (EACCES). Make it writable for this user, or set TOOLKEEL_DATA_DIR or journal.url to another place.`,
      })),
    );
  });

  test('that cannot be a file is reported', async () => {
    mkdirSync(path);
    await expect(open()).rejects.toThrow(`The journal's file ${path} cannot be opened`);
  });

  test('of another file type is refused and left unchanged', async () => {
    writeFileSync(path, 'not a database but a text file '.repeat(100));
    const before = statSync(path).size;
    await expect(open()).rejects.toMatchObject({ reason: 'corrupt' });
    expect(statSync(path).size).toBe(before);
  });

  test('of another program is refused and left unchanged', async () => {
    await raw('CREATE TABLE letters (text TEXT)');
    await expect(open()).rejects.toThrow('is a database of another program');
    await raw('DROP TABLE letters');
    await (await open()).close();
  });

  test('that was damaged is reported, and mutations are refused', async () => {
    const store = await open();
    await store.registerOwner(owner(), DAY);
    for (let i = 0; i < 200; i++) await claimed(store, { dedupKey: byContent(newId()) });
    await store.close();
    const file = openSync(path, 'r+');
    const size = statSync(path).size;
    // All pages but the first, which contains the schema.
    writeSync(file, Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096);
    closeSync(file);

    const error: unknown = await open()
      .then((damaged) => damaged.claim(request()))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'JournalError', reason: 'corrupt' });
    expect(String(error)).toContain('restore a backup');
  });

  test('that was truncated is reported', async () => {
    const store = await open();
    await store.registerOwner(owner(), DAY);
    for (let i = 0; i < 50; i++) await claimed(store, { dedupKey: byContent(newId()) });
    await store.close();
    truncateSync(path, 6000);
    const error: unknown = await open()
      .then((damaged) => damaged.list())
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'JournalError', reason: 'corrupt' });
  });

  test('of a newer program is refused and left unchanged', async () => {
    await (await open()).close();
    await raw('UPDATE schema_version SET version = 99');
    await expect(open()).rejects.toMatchObject({ reason: 'schema' });
    await expect(open()).rejects.toThrow(
      `The journal in ${path} has schema version 99, and this program knows versions up to 7.`,
    );
  });

  test('reports tampering with its audit and with an operation', async () => {
    const store = await open();
    await store.registerOwner(owner(), DAY);
    const { id } = await claimed(store);
    for (let i = 1; i <= 6; i++) await store.audit({ kind: 'x', actor: 'ann', detail: { i } });
    const head = (await store.auditHead())!;
    await raw(`
      UPDATE audit SET actor = 'mallory' WHERE seq = 2;
      UPDATE audit SET detail = 'no longer JSON' WHERE seq = 3;
      DELETE FROM audit WHERE seq IN (4, 6);
      UPDATE operations SET steps = '{' WHERE id = '${id}'`);
    const { rows, problems } = await verifyAudit(readAudit(store), { expect: head });
    expect(rows).toBe(4);
    expect(problems.map(({ kind, seq }) => `${kind} ${seq}`)).toEqual([
      'altered 2',
      'malformed 3',
      'altered 3',
      'missing 5',
      'cut_off 5',
    ]);
    await expect(store.get(id)).rejects.toThrow(`Operation ${id} is damaged`);
    await store.close();
  });

  test('that is locked by another process is waited for, without blocking the event loop', async () => {
    const store = await sqliteStore({ path, timeoutMs: 300 });
    await store.registerOwner(owner(), DAY);
    const other = (await chooseDriver())(path, 1000);
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const ticking = setInterval(() => turns++, 5);
    await expect(store.claim(request())).rejects.toThrow(
      /was locked by another process for 0\.\d s/,
    );
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);

    const waiting = store.claim(request());
    setTimeout(() => other.exec('ROLLBACK'), 50);
    expect((await waiting).kind).toBe('mine');
    expect(await store.count(['claimed'])).toBe(1);
    other.close();
    await store.close();
  });

  test('is readable by its user only, with all files beside it', async () => {
    const store = await open();
    await store.registerOwner(owner(), DAY);
    for (const file of ['', '-wal', '-shm', '-head']) {
      expect(statSync(path + file).mode & 0o777).toBe(0o600);
    }
    await store.close();
    chmodSync(path, 0o644);
    await (await open()).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('can be created, encrypted and used by many processes at once', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
    const dataDir = join(dir, 'data');
    const results = (await Promise.all(
      ['ann', 'bea', 'cid', 'dan'].map((name) =>
        inChild('race', { url: 'sqlite:journal.db', dataDir, owner: name, keys }),
      ),
    )) as { keyId: string; mine: string[] }[];
    expect(new Set(results.map(({ keyId }) => keyId)).size).toBe(1);
    expect(results.flatMap(({ mine }) => mine).toSorted()).toEqual(keys.toSorted());
  });
});

describe('opening a journal in SQLite', () => {
  let dir: string;
  let path: string;
  let open: OpenDriver;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-open-'));
    path = join(dir, 'journal.db');
    open = await chooseDriver();
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  /** Takes an exclusive lock, which also blocks readers. */
  const held = (): SqliteDriver => {
    const other = open(path, 1000);
    other.exec('BEGIN EXCLUSIVE');
    return other;
  };

  test('waits for a process that has locked the whole file', async () => {
    const other = held();
    const opening = sqliteStore({ path });
    const late = setTimeout(() => other.exec('ROLLBACK'), 300);
    const store = await opening.finally(() => clearTimeout(late));
    other.close();
    expect(await store.count(['claimed'])).toBe(0);
    await store.close();
  });

  test('fails in time, with the cause', async () => {
    const other = held();
    const failed = await sqliteStore({ path, timeoutMs: 200 }).catch((error: unknown) => error);
    other.close();
    expect(failed).toMatchObject({ name: 'JournalError', reason: 'unavailable' });
    expect(String(failed)).toMatch(/was locked by another process for 0\.\d s/);
  });

  test('syncs every commit and uses a write-ahead log', async () => {
    let driver: SqliteDriver | undefined;
    const store = await sqliteStore({ path, driver: (...given) => (driver = open(...given)) });
    const setting = (name: string) => Object.values(driver!.rows(`PRAGMA ${name}`, [])[0]!)[0];
    expect([setting('synchronous'), setting('journal_mode')]).toEqual([2, 'wal']);
    await store.close();
  });
});
