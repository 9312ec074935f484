import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseDriver, type SqliteDriver } from './drivers.js';
import { isLogDamaged } from './wal.js';

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;

describe('a write-ahead log', () => {
  let dir: string;
  let driver: SqliteDriver;
  let copied: string;
  /** A log written by SQLite, with `commits` at these frames. */
  let intact: Buffer;
  let commits: readonly number[];

  const snapshot = (): Buffer => {
    copyFileSync(join(dir, 'a.db-wal'), copied);
    return readFileSync(copied);
  };
  const isDamaged = (log: Uint8Array): boolean => {
    writeFileSync(copied, log);
    return isLogDamaged(copied);
  };
  const flipped = (position: number): Buffer => {
    const log = Buffer.from(intact);
    log[position]! ^= 0x10;
    return log;
  };

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-wal-'));
    copied = join(dir, 'copied');
    driver = (await chooseDriver())(join(dir, 'a.db'), 1000);
    driver.rows('PRAGMA journal_mode = WAL', []);
    driver.exec('CREATE TABLE t (a TEXT)');
    for (let i = 0; i < 20; i += 1) {
      // With one or several pages each.
      driver.exec(`INSERT INTO t VALUES ('${'x'.repeat(i % 3 === 0 ? 9000 : 10)}')`);
    }
    intact = snapshot();
    commits = Array.from(
      { length: (intact.length - HEADER_BYTES) / FRAME_BYTES },
      (_, i) => i,
    ).filter((i) => intact.readUInt32BE(HEADER_BYTES + i * FRAME_BYTES + 4) !== 0);
  });
  afterAll(() => {
    driver.close();
    rmSync(dir, { recursive: true });
  });

  test('written by SQLite is not damaged, nor is a missing or empty one', () => {
    expect(isDamaged(intact)).toBe(false);
    expect(isDamaged(Buffer.alloc(0))).toBe(false);
    expect(isLogDamaged(join(dir, 'missing'))).toBe(false);
  });

  test('is damaged if any bit before the last commits was changed', () => {
    // The checksum after a changed one is rejected as well.
    const frames = commits.at(-3)! - 1;
    fc.assert(
      fc.property(fc.nat(frames * FRAME_BYTES - 1), (position) => {
        expect(isDamaged(flipped(HEADER_BYTES + position))).toBe(true);
      }),
    );
  });

  test('that is truncated anywhere is not damaged, as after a power cut', () => {
    fc.assert(
      fc.property(fc.nat(intact.length), (length) => {
        expect(isDamaged(intact.subarray(0, length))).toBe(false);
      }),
    );
  });

  test('whose last transaction is torn is not damaged, as after a power cut', () => {
    const last = HEADER_BYTES + (commits.at(-2)! + 1) * FRAME_BYTES;
    fc.assert(
      fc.property(fc.integer({ min: last, max: intact.length - 1 }), (position) => {
        expect(isDamaged(flipped(position))).toBe(false);
      }),
    );
  });

  test('without a valid header is ignored, as by SQLite', () => {
    for (const byte of [0, 9, 17, 30]) expect(isDamaged(flipped(byte))).toBe(false);
  });

  test('that was restarted may be followed by frames of its former round', () => {
    driver.exec('PRAGMA wal_checkpoint(RESTART)');
    driver.exec("INSERT INTO t VALUES ('new round')");
    const log = snapshot();
    expect(log.length).toBe(intact.length);
    expect(isDamaged(log)).toBe(false);
  });

  test('with frames of an abandoned transaction after its end is not damaged', () => {
    driver.exec('PRAGMA wal_checkpoint(RESTART)');
    driver.exec('PRAGMA cache_size = 10');
    driver.exec('BEGIN');
    for (let i = 0; i < 50; i += 1) driver.exec(`INSERT INTO t VALUES ('${'y'.repeat(9000)}')`);
    driver.exec('ROLLBACK');
    driver.exec("INSERT INTO t VALUES ('after')");
    expect(isDamaged(snapshot())).toBe(false);
  });
});
