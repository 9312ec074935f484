import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '@toolkeel/contract';
import { hash } from 'node:crypto';
import { chainOf, entries } from './chain.fixture.js';
import { type AuditRow, link, toUnlinked } from './chain.js';
import { verifyAudit } from './reports.js';

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

  test('that nobody touched holds, and says its head', async () => {
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

  test('shows an altered row whose hash was made anew', async () => {
    const forged = link(first, toUnlinked({ kind: 'send', actor: 'mallory' }, second.at));
    expect(await kinds([first, forged, third])).toEqual(['altered 3']);
  });

  test('shows a missing row, at the beginning too', async () => {
    expect(await kinds([first, second, fourth])).toEqual(['missing 4']);
    expect(await kinds([third, fourth])).toEqual(['missing 3']);
  });

  test('shows rows in another order', async () => {
    expect(await kinds([first, third, second, fourth])).toEqual(['missing 3', 'reordered 2']);
    const swapped = [first, { ...third, seq: 2 }, { ...second, seq: 3 }, fourth];
    expect((await kinds(swapped)).length).toBeGreaterThan(0);
  });

  test('shows rows that were cut off, by the head that was kept elsewhere', async () => {
    expect(await kinds([first, second, third])).toEqual([]);
    expect(await kinds([first, second, third], head)).toEqual(['cut_off 3']);
    expect(await kinds([], head)).toEqual(['cut_off 0']);
  });

  test('shows a chain that was written anew from some row on', async () => {
    const forged = chainOf([...entries(3), { kind: 'x', actor: 'm' }, { kind: 'y', actor: 'm' }]);
    expect(await kinds(forged)).toEqual([]);
    expect(await kinds(forged, head)).toEqual(['altered 5']);
    expect(
      await kinds([...rows, link(fifth, toUnlinked({ kind: 'z', actor: 'a' }, 1))], head),
    ).toEqual([]);
  });

  test('goes on behind a row that cannot be read', async () => {
    const broken = { ...second, malformed: 'detail is not a JSON object' };
    expect(await kinds([first, broken, third, { ...fourth, tool: 'other' }, fifth])).toEqual([
      'malformed 2',
      'altered 4',
    ]);
  });

  test('counts all problems and tells the first hundred', async () => {
    const many = chainOf(entries(300)).map((row) => ({ ...row, actor: 'mallory' }));
    const report = await verifyAudit(many);
    expect(report.problems).toHaveLength(100);
    expect(report.problemCount).toBe(300);
  });

  test('shows whatever was changed, wherever', async () => {
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
