import { hash } from 'node:crypto';
import { canonicalJson } from '@toolkeel/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../store/store.js';
import { type AuditHead, type AuditRow, GENESIS, link, readAuditRow, toUnlinked } from './chain.js';
import { type AuditExport, exportAudit, readAudit, verifyAudit } from './reports.js';

/** A chain over these entries, a second apart. */
function chainOf(entries: readonly AuditEntry[]): AuditRow[] {
  let head: AuditHead = GENESIS;
  return entries.map((entry, index) => {
    const row = link(head, toUnlinked(entry, 1000 * (index + 1)));
    head = row;
    return row;
  });
}

const entries = (count: number): AuditEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'send',
    actor: 'alice',
    operationId: `op_${index}`,
    tool: 'post',
    detail: { n: index },
  }));

const kinds = async (rows: readonly AuditRow[], expected?: { seq: number; hash: string }) => {
  const { problems } = await verifyAudit(rows, expected && { expect: expected });
  return problems.map(({ kind, seq }) => `${kind} ${seq}`);
};

describe('the audit chain', () => {
  const rows = chainOf(entries(5));
  const [first, second, third, fourth, fifth] = rows as [
    AuditRow,
    AuditRow,
    AuditRow,
    AuditRow,
    AuditRow,
  ];
  const head = { seq: 5, hash: fifth.hash };

  test('verifies if untouched, and reports its head', async () => {
    const report = await verifyAudit(rows, { expect: head });
    expect(report).toEqual({ rows: 5, head, problems: [], problemCount: 0 });
    expect(await verifyAudit([])).toMatchObject({ rows: 0, head: undefined, problems: [] });
  });

  test('hashes the canonical JSON of all other members', () => {
    const row = link(head, toUnlinked({ kind: 'k', actor: 'a', tool: 't', account: 'ö"' }, 7));
    const { hash: stored, ...rest } = row;
    expect(stored).toBe(hash('sha256', canonicalJson(rest)));
    const bare = link(head, toUnlinked({ kind: 'k', actor: 'a' }, 7));
    const { hash: kept, ...others } = bare;
    expect(kept).toBe(hash('sha256', canonicalJson(others)));
  });

  test('shows an altered row', async () => {
    expect(await kinds([first, { ...second, actor: 'mallory' }, third])).toEqual(['altered 2']);
  });

  test('shows an altered row whose hash was recomputed', async () => {
    const forged = link(first, toUnlinked({ kind: 'send', actor: 'mallory' }, second.at));
    expect(await kinds([first, forged, third])).toEqual(['altered 3']);
  });

  test('shows a missing row, also at the start', async () => {
    expect(await kinds([first, second, fourth])).toEqual(['missing 4']);
    expect(await kinds([third, fourth])).toEqual(['missing 3']);
  });

  test('shows rows in another order', async () => {
    expect(await kinds([first, third, second, fourth])).toEqual(['missing 3', 'reordered 2']);
    const swapped = [first, { ...third, seq: 2 }, { ...second, seq: 3 }, fourth];
    expect((await kinds(swapped)).length).toBeGreaterThan(0);
  });

  test('shows rows removed from the end, by a head stored elsewhere', async () => {
    expect(await kinds([first, second, third])).toEqual([]);
    expect(await kinds([first, second, third], head)).toEqual(['cut_off 3']);
    expect(await kinds([], head)).toEqual(['cut_off 0']);
  });

  test('shows a chain that was rewritten from some row on', async () => {
    const forged = chainOf([...entries(3), { kind: 'x', actor: 'm' }, { kind: 'y', actor: 'm' }]);
    expect(await kinds(forged)).toEqual([]);
    expect(await kinds(forged, head)).toEqual(['altered 5']);
    expect(
      await kinds([...rows, link(fifth, toUnlinked({ kind: 'z', actor: 'a' }, 1))], head),
    ).toEqual([]);
  });

  test('continues after an unreadable row', async () => {
    const broken = { ...second, malformed: 'detail is not a JSON object' };
    expect(await kinds([first, broken, third, { ...fourth, tool: 'other' }, fifth])).toEqual([
      'malformed 2',
      'altered 4',
    ]);
  });

  test('counts all problems and lists the first hundred', async () => {
    const many = chainOf(entries(300)).map((row) => ({ ...row, actor: 'mallory' }));
    const report = await verifyAudit(many);
    expect(report.problems).toHaveLength(100);
    expect(report.problemCount).toBe(300);
  });

  test('detects any change of any row', async () => {
    const members = ['seq', 'at', 'kind', 'operationId', 'tool', 'actor', 'detail', 'prev', 'hash'];
    await fc.assert(
      fc.asyncProperty(
        fc.nat(4),
        fc.constantFrom(...members),
        fc.string(),
        async (at, member, text) => {
          const row = rows[at]!;
          const old = row[member as keyof AuditRow];
          const next = typeof old === 'number' ? old + 1 + text.length : `${text}x`;
          fc.pre(next !== old);
          const changed = rows.with(at, { ...row, [member]: next });
          expect((await verifyAudit(changed, { expect: head })).problemCount).toBeGreaterThan(0);
        },
      ),
    );
  });
});

const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

const text = async (rows: readonly AuditRow[], how: AuditExport) =>
  (await all(exportAudit(rows, how))).join('');

test('an export as JSON Lines parses to the same rows', async () => {
  const rows = chainOf(entries(4));
  const lines = (await text(rows, { format: 'jsonl' })).trimEnd().split('\n');
  const back = lines.map((line) => JSON.parse(line) as AuditRow);
  expect(back).toEqual(rows);
  expect((await verifyAudit(back)).problems).toEqual([]);
});

test('an export contains only the requested time range', async () => {
  const rows = chainOf(entries(5));
  const some = await text(rows, { format: 'jsonl', since: 2000, until: 4000 });
  expect(some.match(/"seq":\d/g)).toEqual(['"seq":2', '"seq":3']);
});

test('CSV cells are quoted and never start a formula', async () => {
  const [row] = chainOf([
    { kind: 'denied', actor: '=cmd("x")', tool: '-1+2', account: 'a,b\n"c"', detail: { q: '"' } },
  ]);
  const { prev, hash } = row!;
  expect(await text([row!], { format: 'csv' })).toBe(
    'seq,at,kind,operationId,tool,account,actor,detail,prev,hash,malformed\r\n' +
      `1,1970-01-01T00:00:01.000Z,denied,,'-1+2,"a,b\n""c""","'=cmd(""x"")","{""q"":""\\""""}",${prev},${hash},\r\n`,
  );
});

test('a tampered row is exported like the others', async () => {
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

test('the audit is read page by page', async () => {
  const rows = chainOf(entries(1203));
  const asked: number[] = [];
  const auditRows = async (from: number, limit: number) => {
    asked.push(from);
    return rows.filter(({ seq }) => seq >= from).slice(0, limit);
  };
  expect(await all(readAudit({ auditRows }))).toEqual(rows);
  expect(asked.slice(1)).toEqual([501, 1001]);
});
