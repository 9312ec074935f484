import { expect, test } from 'vitest';
import { chainOf, entries } from './chain.fixture.js';
import { type AuditExport, exportAudit, readAudit, verifyAudit } from './reports.js';
import { type AuditRow, readAuditRow } from './chain.js';

const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

const text = async (rows: readonly AuditRow[], how: AuditExport) =>
  (await all(exportAudit(rows, how))).join('');

test('JSON Lines come back as the rows that they were', async () => {
  const rows = chainOf(entries(4));
  const lines = (await text(rows, { format: 'jsonl' })).trimEnd().split('\n');
  const back = lines.map((line) => JSON.parse(line) as AuditRow);
  expect(back).toEqual(rows);
  expect((await verifyAudit(back)).problems).toEqual([]);
});

test('only what is in the time that was asked for', async () => {
  const rows = chainOf(entries(5));
  const some = await text(rows, { format: 'jsonl', since: 2000, until: 4000 });
  expect(some.match(/"seq":\d/g)).toEqual(['"seq":2', '"seq":3']);
});

test('CSV quotes what has to be quoted, and starts no formula', async () => {
  const [row] = chainOf([
    { kind: 'denied', actor: '=cmd("x")', tool: '-1+2', account: 'a,b\n"c"', detail: { q: '"' } },
  ]);
  const { prev, hash } = row!;
  expect(await text([row!], { format: 'csv' })).toBe(
    'seq,at,kind,operationId,tool,account,actor,detail,prev,hash,malformed\r\n' +
      `1,1970-01-01T00:00:01.000Z,denied,,'-1+2,"a,b\n""c""","'=cmd(""x"")","{""q"":""\\""""}",${prev},${hash},\r\n`,
  );
});

test('a row that somebody tampered with is exported like the others', async () => {
  const odd = readAuditRow({
    seq: 1,
    at: 'yesterday',
    kind: null,
    operation_id: 7,
    tool: new Uint8Array([104, 105]),
    actor: 'ann',
    detail: '[]',
    prev: 'p',
    hash: 'h',
  });
  expect(odd).toMatchObject({ seq: 1, at: 0, kind: '', operationId: '7', tool: 'hi' });
  expect(odd.malformed).toBe(
    'at is not a whole number; kind is not text; operation_id is not text; tool is not text; detail is not a JSON object',
  );
  const far = { ...odd, at: 1e300 };
  expect(await text([odd, far], { format: 'csv' })).toContain('at is not a whole number');
});

test('reads page after page', async () => {
  const rows = chainOf(entries(1203));
  const asked: number[] = [];
  const auditRows = async (from: number, limit: number) => {
    asked.push(from);
    return rows.filter(({ seq }) => seq >= from).slice(0, limit);
  };
  expect(await all(readAudit({ auditRows }))).toEqual(rows);
  expect(asked.slice(1)).toEqual([501, 1001]);
});
