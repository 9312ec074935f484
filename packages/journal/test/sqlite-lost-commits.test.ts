import {
  copyFileSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '@toolkeel/kernel/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type JournalStore } from '@toolkeel/journal';
import {
  byKey,
  fencingToken,
  LEASE,
  owner,
  request,
  sending,
  settled,
  success,
} from '../src/store/contract/harness.fixture.js';
import { chooseDriver } from '../src/store/sqlite/choose-driver.js';
import { inChild, killChild, startChild } from './support/child.js';

const keysOf = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

/** Two acts, as in the defect, and enough for several cycles of the log. */
const counts = [2, 30, 80];

describe('a journal whose newest commits are gone after kill -9', () => {
  let dir: string;
  let path: string;
  let log: string;
  let head: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-lost-'));
    path = join(dir, 'journal.db');
    [log, head] = [`${path}-wal`, `${path}-head`];
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const open = (): Promise<JournalStore> => openStore(`sqlite:${path}`, { dataDir: dir });

  /** The acts that a restarted process would execute again. */
  const performedAgain = async (
    store: JournalStore,
    keys: readonly string[],
  ): Promise<readonly string[]> => {
    await store.registerOwner(owner('restarted'), LEASE);
    const again: string[] = [];
    for (const key of keys) {
      const { kind } = await store.claim(request({ owner: 'restarted', dedupKey: byKey(key) }));
      if (kind === 'mine') again.push(key);
    }
    await store.close();
    return again;
  };

  const overwrite = (file: string, position: number, bytes: Uint8Array): void => {
    const opened = openSync(file, 'r+');
    writeSync(opened, bytes, 0, bytes.length, position);
    closeSync(opened);
  };
  const noise = (seed: number, bytes: number): Uint8Array => {
    const random = seededRandom(seed);
    return Uint8Array.from({ length: bytes }, () => Math.floor(random() * 256));
  };
  const overwriteSpots = (seed: number): void => {
    const random = seededRandom(seed);
    const size = statSync(log).size;
    for (let spot = 0; spot < 40; spot += 1) {
      overwrite(log, Math.floor(random() * (size - 16)), noise(seed + spot, 16));
    }
  };

  /** Checkpoints into the database file. In a child process, because a driver may close late. */
  const closedInChild = (file: string) =>
    inChild('race', { url: `sqlite:${file}`, dataDir: dir, owner: 'closing', keys: [] });

  const expectRefusal = async (): Promise<void> => {
    const refusal: unknown = await open().then(
      (store) => store.close().then(() => 'opened'),
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ name: 'JournalError', reason: 'corrupt' });
    for (const part of [path, 'could be performed twice', `remove ${head}`]) {
      expect((refusal as Error).message).toContain(part);
    }
  };

  test.each(counts)(
    'because 40 spots of its log were overwritten performs none of %i acts again',
    async (count) => {
      const keys = keysOf('act', count);
      await killChild(await startChild('perform', { path, keys }));
      overwriteSpots(count);
      const again = await open().then(
        (store) => performedAgain(store, keys),
        (error: unknown) => error,
      );
      expect(again).toMatchObject({ name: 'JournalError', reason: 'corrupt' });
      // The second start refuses as well.
      await expectRefusal();
    },
  );

  test.each<readonly [what: string, damage: () => void]>([
    ['of its last act', () => overwrite(log, statSync(log).size - 20 * 4120, noise(1, 16))],
    ['of the header of its log', () => overwrite(log, 0, noise(2, 32))],
    ['of the second half of its log', () => truncateSync(log, statSync(log).size / 2)],
    ['of its log', () => rmSync(log)],
    ['of everything but its head file', () => [path, log, `${path}-shm`].forEach((f) => rmSync(f))],
  ])('because of the loss %s is refused until its operator accepts that', async (_, damage) => {
    const keys = keysOf('act', 3);
    await killChild(await startChild('perform', { path, keys }));
    damage();
    await expectRefusal();
    await expectRefusal();
    rmSync(head);
    expect((await performedAgain(await open(), ['new'])).length).toBe(1);
    await (await open()).close();
  });

  test('because its last frame was overwritten does not repeat settled operations', async () => {
    const keys = keysOf('act', 3);
    await killChild(await startChild('perform', { path, keys }));
    overwrite(log, statSync(log).size - 100, noise(1, 16));
    const store = await open();
    expect(await store.get('op_act-2')).toMatchObject({ state: 'sending' });
    expect(await performedAgain(store, keys)).toEqual([]);
  });

  test('because an older copy of the database was restored is refused', async () => {
    await killChild(await startChild('perform', { path, keys: keysOf('early', 3) }));
    await closedInChild(path);
    copyFileSync(path, join(dir, 'backup'));
    await killChild(await startChild('perform', { path, keys: keysOf('late', 3) }));
    for (const file of [log, `${path}-shm`]) rmSync(file);
    copyFileSync(join(dir, 'backup'), path);
    await expectRefusal();
    await expect(open()).rejects.toThrow(
      /audit row 11 \(.*\) was committed, and its newest row is 6 /,
    );
  });

  test('because another journal replaced it is refused', async () => {
    await killChild(await startChild('perform', { path, keys: keysOf('mine', 3) }));
    const other = join(dir, 'other.db');
    await killChild(await startChild('perform', { path: other, keys: keysOf('other', 5) }));
    await closedInChild(other);
    for (const file of [log, `${path}-shm`]) rmSync(file);
    copyFileSync(other, path);
    await expectRefusal();
  });
});

describe('a journal that has all of its commits', () => {
  let dir: string;
  let path: string;
  let head: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-kept-'));
    path = join(dir, 'journal.db');
    head = `${path}-head`;
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const open = (): Promise<JournalStore> => openStore(`sqlite:${path}`, { dataDir: dir });
  const act = (store: JournalStore, key: string) => settled(store, { dedupKey: byKey(key) });
  const keys = keysOf('act', 40);

  test.each([2, 70])('continues after kill -9 with %i acts', async (count) => {
    await killChild(await startChild('perform', { path, keys: keysOf('act', count) }));
    const store = await open();
    expect(store.caution).toBeUndefined();
    expect(await store.count(['succeeded'])).toBe(count);
    await store.close();
  });

  test('and no head file, because an earlier version wrote it, gets one', async () => {
    await killChild(await startChild('perform', { path, keys }));
    rmSync(head);
    await (await open()).close();
    expect(statSync(head).mode & 0o777).toBe(0o600);
    rmSync(path);
    await expect(open()).rejects.toMatchObject({ reason: 'corrupt' });
  });

  test('and an older head file, because of a power cut, continues', async () => {
    const store = await open();
    await store.registerOwner(owner(), LEASE);
    await act(store, 'first');
    copyFileSync(head, join(dir, 'older'));
    for (const key of keys) await act(store, key);
    await store.close();
    copyFileSync(join(dir, 'older'), head);
    const again = await open();
    expect(await again.count(['succeeded'])).toBe(keys.length + 1);
    await again.close();
  });

  test('and a head file with a torn newest record continues', async () => {
    await killChild(await startChild('perform', { path, keys }));
    const records = readFileSync(head, 'latin1');
    const newest = records.indexOf(`${2 * keys.length - 1} `);
    writeFileSync(
      head,
      `${records.slice(0, newest + 20)}torn${records.slice(newest + 24)}`,
      'latin1',
    );
    const store = await open();
    expect(store.caution).toBeUndefined();
    await store.close();
  });

  test('and an unreadable head file continues, and warns its operator once', async () => {
    await killChild(await startChild('perform', { path, keys }));
    writeFileSync(head, 'not a head file\n'.repeat(300));
    const store = await open();
    expect(store.caution).toContain(`${head} was damaged`);
    await store.registerOwner(owner('restarted'), LEASE);
    await settled(store, { owner: 'restarted', dedupKey: byKey('another') });
    await store.close();
    const again = await open();
    expect(again.caution).toBeUndefined();
    await again.close();
  });

  test('is shared by processes that write their heads alternately', async () => {
    const stores = [await open(), await open(), await open()];
    for (const [index, store] of stores.entries())
      await store.registerOwner(owner(`o${index}`), LEASE);
    for (const [index, key] of keys.entries()) {
      const at = index % stores.length;
      await settled(stores[at]!, { owner: `o${at}`, dedupKey: byKey(key) });
    }
    for (const store of stores) await store.close();
    const again = await open();
    expect(await again.count(['succeeded'])).toBe(keys.length);
    await again.close();
  });

  test('and loses some while it is open claims nothing after the next heartbeat', async () => {
    const store = await open();
    await store.registerOwner(owner(), LEASE);
    await act(store, 'early');
    const sent = await sending(store, { dedupKey: byKey('sent') });
    expect(await store.renew('alice', LEASE)).toBe(true);
    const other = (await chooseDriver())(path, 1000);
    other.exec('DELETE FROM audit WHERE seq > 1');
    other.close();

    const refusal = { name: 'JournalError', reason: 'corrupt' };
    await expect(store.renew('alice', LEASE)).rejects.toMatchObject(refusal);
    await expect(act(store, 'late')).rejects.toMatchObject(refusal);
    // Only this process knows the outcome.
    expect(await store.settle(fencingToken(sent), success())).toBe(true);
    await store.close();
  });
});
