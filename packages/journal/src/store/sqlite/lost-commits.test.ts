import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openHeadFile, type Head, type HeadFile } from './lost-commits.js';

const head = (seq: number): Head => ({
  seq,
  at: Date.UTC(2026, 0, 1) + seq,
  hash: (seq % 16).toString(16).repeat(64),
});

describe('a head file', () => {
  let dir: string;
  let path: string;
  let file: HeadFile;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-head-'));
    path = join(dir, 'journal.db-head');
    file = openHeadFile(path);
  });
  afterEach(() => {
    file.close();
    rmSync(dir, { recursive: true });
  });

  test('is empty at first, and then contains the newest row', () => {
    expect(file.newest()).toBeUndefined();
    for (const seq of [1, 2, 3, 31, 32, 33, 1000, Number.MAX_SAFE_INTEGER]) {
      file.write(head(seq));
      expect(file.newest()).toEqual(head(seq));
    }
  });

  test('keeps the newest row of several processes, whatever their write order', () => {
    const other = openHeadFile(path);
    file.write(head(11));
    other.write(head(10));
    expect(file.newest()).toEqual(head(11));
    expect(other.newest()).toEqual(head(11));
    other.close();
  });

  test('does not grow', () => {
    for (let seq = 1; seq <= 200; seq += 1) file.write(head(seq));
    expect(readFileSync(path)).toHaveLength(4096);
  });

  test('returns the previous row if any byte of the newest was changed', () => {
    for (let seq = 1; seq <= 40; seq += 1) file.write(head(seq));
    const intact = readFileSync(path);
    fc.assert(
      fc.property(fc.nat(127), fc.integer({ min: 1, max: 255 }), (byte, change) => {
        const torn = Buffer.from(intact);
        torn[(40 % 32) * 128 + byte]! ^= change;
        writeFileSync(path, torn);
        expect(file.newest()).toEqual(head(39));
      }),
    );
  });

  test('reports if none of its records is readable', () => {
    const long = `1 2 ${'a'.repeat(200)}`;
    for (const junk of ['junk', '1 2 3', long, `${'\0'.repeat(200)}x`, 'x'.repeat(9000)]) {
      writeFileSync(path, junk);
      expect(file.newest()).toBe('unreadable');
    }
    writeFileSync(path, '\0'.repeat(4096));
    expect(file.newest()).toBeUndefined();
  });
});
