import type { JournalStore } from '../store/store.js';
import { type AuditHead, type AuditRow, GENESIS, hashOf } from './chain.js';

const PAGE_SIZE = 500;

/** Reads all rows in chain order, page by page. */
export async function* readAudit({
  auditRows,
}: Pick<JournalStore, 'auditRows'>): AsyncGenerator<AuditRow> {
  let from = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page = await auditRows(from, PAGE_SIZE);
    yield* page;
    if (page.length < PAGE_SIZE) return;
    from = page.at(-1)!.seq + 1;
  }
}

export interface AuditProblem {
  readonly kind: 'altered' | 'missing' | 'reordered' | 'cut_off' | 'malformed';
  /** The row at which it was detected. */
  readonly seq: number;
  readonly message: string;
}

export interface AuditReport {
  readonly rows: number;
  /** The last row that was read. Store it elsewhere for the next verification. */
  readonly head: AuditHead | undefined;
  /** The first 100; `problemCount` is the total. */
  readonly problems: readonly AuditProblem[];
  readonly problemCount: number;
}

const MAX_PROBLEMS = 100;

/**
 * Verifies the chain from its start, or the rows that follow `after`, which was verified before. An attacker who can rewrite the whole table can also forge a
 * consistent chain; only `expect`, a head stored elsewhere, detects that and rows removed from the end.
 */
export async function verifyAudit(
  rows: Iterable<AuditRow> | AsyncIterable<AuditRow>,
  { expect, after = GENESIS }: { readonly expect?: AuditHead; readonly after?: AuditHead } = {},
): Promise<AuditReport> {
  const problems: AuditProblem[] = [];
  let problemCount = 0;
  const report = (kind: AuditProblem['kind'], seq: number, message: string): void => {
    problemCount++;
    if (problems.length < MAX_PROBLEMS) problems.push({ kind, seq, message });
  };

  let count = 0;
  let last: AuditHead = after;
  for await (const row of rows) {
    count++;
    for (const [kind, message] of problemsIn(row, last, expect)) report(kind, row.seq, message);
    // After a reordered row, the chain continues from the highest number.
    if (row.seq > last.seq) last = { seq: row.seq, hash: row.hash };
  }
  if (expect !== undefined && last.seq < expect.seq) {
    const message = `the chain ends at row ${last.seq}, but row ${expect.seq} is expected`;
    report('cut_off', last.seq, message);
  }
  return { rows: count, head: count === 0 ? undefined : last, problems, problemCount };
}

type FoundProblem = readonly [kind: AuditProblem['kind'], message: string];

function* problemsIn(
  row: AuditRow,
  last: AuditHead,
  expect: AuditHead | undefined,
): Generator<FoundProblem> {
  const { seq, prev, hash, malformed } = row;
  if (malformed !== undefined) yield ['malformed', `row ${seq} cannot be read: ${malformed}`];
  if (seq <= last.seq) {
    yield ['reordered', `row ${seq} comes after row ${last.seq}`];
    return;
  }
  if (seq > last.seq + 1) {
    const gone =
      seq === last.seq + 2 ? `row ${seq - 1} is` : `rows ${last.seq + 1} to ${seq - 1} are`;
    yield ['missing', `${gone} missing`];
  } else if (prev !== last.hash) {
    yield ['altered', `row ${seq} does not follow row ${last.seq}: one of them was altered`];
  }
  if (hash !== hashOf(row)) yield ['altered', `row ${seq} was altered: its hash does not match`];
  if (seq === expect?.seq && hash !== expect.hash) {
    yield ['altered', `row ${seq} does not have the expected hash`];
  }
}

export interface AuditExport {
  readonly format: 'jsonl' | 'csv';
  /** Milliseconds since 1970: at or after, and before. */
  readonly since?: number;
  readonly until?: number;
}

/** Yields the lines of the export one by one. */
export async function* exportAudit(
  rows: Iterable<AuditRow> | AsyncIterable<AuditRow>,
  { format, since = -Infinity, until = Infinity }: AuditExport,
): AsyncGenerator<string> {
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`;
  for await (const row of rows) {
    if (row.at < since || row.at >= until) continue;
    yield format === 'csv' ? toCsv(row) : `${JSON.stringify(row)}\n`;
  }
}

const COLUMNS = [
  'seq',
  'at',
  'kind',
  'operationId',
  'tool',
  'account',
  'actor',
  'detail',
  'prev',
  'hash',
  'malformed',
] as const satisfies readonly (keyof AuditRow)[];

function toCsv(row: AuditRow): string {
  const cells = COLUMNS.map((column) => {
    const value = row[column];
    if (column === 'at') return timeOf(row.at);
    return typeof value === 'number' ? String(value) : csvCell(value ?? '');
  });
  return `${cells.join(',')}\r\n`;
}

/** The time of a tampered row may be out of range. */
function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}

/** Prevents CSV injection: spreadsheets execute cells that begin like a formula, and agents choose values. */
export function csvCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
