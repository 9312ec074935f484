import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { verifyAudit } from '../../audit/reports.js';
import { sqlAudit } from '../sql/audit.js';
import type { Dialect } from '../sql/dialect.js';
import { connection, busyRetry } from './connection.js';
import { chooseDriver } from './drivers.js';
import { prepareSchema } from './store.js';

const dialect: Dialect = {
  kind: 'sqlite',
  prefix: '',
  clock: (values) => `$${values.push(1000)}`,
  lock: '',
  skipLocked: '',
  packsRows: true,
};

const dir = mkdtempSync(join(tmpdir(), 'toolkeel-audit-'));
const path = join(dir, 'journal.db');
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
  rmSync(dir, { recursive: true });
});

/** The audit of one process, which remembers the row that it wrote last. */
const writer = async () => {
  const driver = (await chooseDriver())(path, 100);
  closing.push(driver.close);
  const { read, write } = connection(driver, path, busyRetry(path, 1000));
  await prepareSchema({ read, write }, dialect, path);
  const audit = sqlAudit(dialect, () => 1000);
  return {
    append: (kind: string) => write(() => audit.append({ kind, actor: 'ann' })),
    appendInVain: (kind: string) =>
      write(function* () {
        yield* audit.append({ kind, actor: 'ann' });
        throw new Error('taken back');
      }),
    alter: (text: string) => driver.exec(text),
    rows: () => read(() => audit.rows(1, 100)),
  };
};

test('the chain stays valid whether the last row was committed, rolled back or followed by others', async () => {
  const [one, other] = [await writer(), await writer()];
  const kinds = async () => (await one.rows()).map(({ seq, kind }) => `${seq} ${kind}`);

  await one.append('a');
  await one.append('b');
  await expect(one.appendInVain('lost')).rejects.toThrow('taken back');
  await one.append('c');
  const together = [one.append('d'), one.appendInVain('lost'), one.append('e')];
  const ends = await Promise.allSettled(together);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await other.append('f');
  await one.append('g');
  await other.append('h');
  await other.append('i');
  await one.append('j');

  expect(await kinds()).toEqual(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((kind, i) => `${i + 1} ${kind}`),
  );
  expect((await verifyAudit(await one.rows())).problems).toEqual([]);

  one.alter('DELETE FROM audit WHERE seq = 10');
  await one.append('k');
  expect((await kinds()).at(-1)).toBe('10 k');
  one.alter('UPDATE audit SET seq = 11 WHERE seq = 10');
  await one.append('l');
  expect((await kinds()).at(-1)).toBe('12 l');
});
