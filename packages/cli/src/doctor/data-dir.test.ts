import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useTempDir } from '../temp-dir.fixture.js';
import { examineDataDir } from './data-dir.js';

const dir = useTempDir();

it('is well where it can be written, also before it is there', () => {
  expect(examineDataDir(dir())).toMatchObject({ status: 'ok', detail: `${dir()} can be written` });
  const later = join(dir(), 'a', 'b');
  expect(examineDataDir(later)).toMatchObject({ status: 'ok' });
  expect(examineDataDir(later).detail).toContain('will be made');
  expect(existsSync(later)).toBe(false);
});

it('is not where a file stands in the way', () => {
  const file = join(dir(), 'file');
  writeFileSync(file, '');
  expect(examineDataDir(join(file, 'data'))).toMatchObject({
    status: 'fail',
    detail: `${file} is not a directory`,
    advice: expect.stringContaining('TOOLKEEL_DATA_DIR'),
  });
});

it('is not where we may not write, and that is asked of what is there', () => {
  const asked: string[] = [];
  const never = (path: string): boolean => asked.push(path) < 0;
  const later = join(dir(), 'a', 'b');
  expect(examineDataDir(later, never)).toMatchObject({ status: 'fail' });
  expect(asked).toEqual([dir()]);
});
