import type { JournalStore } from '../store/store.js';
import { type AuditHead, type AuditRow, GENESIS, hashOf } from './chain.js';

const PAGE = 500;

/** All rows in the order of the chain, a page at a time. */
export async function* readAudit({
  auditRows,
}: Pick<JournalStore, 'auditRows'>): AsyncGenerator<AuditRow> {
  let from = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page = await auditRows(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    from = page.at(-1)!.seq + 1;
  }
}

export interface AuditProblem {
  readonly kind: 'altered' | 'missing' | 'reordered' | 'cut_off' | 'malformed';
  /** The row at which it shows. */
  readonly seq: number;
  readonly message: string;
}

export interface AuditReport {
  readonly rows: number;
  /** The end of what was read: worth keeping elsewhere. */
  readonly head: AuditHead | undefined;
  /** The first of them; `problemCount` says how many there are. */
  readonly problems: readonly AuditProblem[];
  readonly problemCount: number;
}

const MAX_PROBLEMS = 100;

/**
 * Reads the chain from its beginning. Whoever can write the whole database can also write a chain that
 * holds; only `expect`, a head that was kept elsewhere, finds that, and rows that were cut off the end.
 */
export async function verifyAudit(
  rows: Iterable<AuditRow> | AsyncIterable<AuditRow>,
  { expect }: { readonly expect?: AuditHead } = {},
): Promise<AuditReport> {
  const problems: AuditProblem[] = [];
  let problemCount = 0;
  const report = (kind: AuditProblem['kind'], seq: number, message: string): void => {
    problemCount++;
    if (problems.length < MAX_PROBLEMS) problems.push({ kind, seq, message });
  };

  let count = 0;
  let last: AuditHead = GENESIS;
  for await (const row of rows) {
    count++;
    for (const [kind, message] of problemsIn(row, last, expect)) report(kind, row.seq, message);
    // A row that came late has its place before this one, and the chain goes on from here.
    if (row.seq > last.seq) last = { seq: row.seq, hash: row.hash };
  }
  if (expect !== undefined && last.seq < expect.seq) {
    const message = `the chain ends at row ${last.seq}, and row ${expect.seq} was there once`;
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
    yield ['reordered', `row ${seq} stands behind row ${last.seq}`];
    return;
  }
  if (seq > last.seq + 1) {
    const gone =
      seq === last.seq + 2 ? `row ${seq - 1} is` : `rows ${last.seq + 1} to ${seq - 1} are`;
    yield ['missing', `${gone} missing`];
  } else if (prev !== last.hash) {
    yield ['altered', `row ${seq} does not follow row ${last.seq}: one of them was altered`];
  }
  if (hash !== hashOf(row)) yield ['altered', `row ${seq} was altered: its hash is another one`];
  if (seq === expect?.seq && hash !== expect.hash) {
    yield ['altered', `row ${seq} is not the one that was expected there`];
  }
}

export interface AuditExport {
  readonly format: 'jsonl' | 'csv';
  /** Milliseconds since 1970: at or after, and before. */
  readonly since?: number;
  readonly until?: number;
}

/** The lines of a file, one after the other, however many rows there are. */
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
    return typeof value === 'number' ? String(value) : quoted(value ?? '');
  });
  return `${cells.join(',')}\r\n`;
}

/** A row that somebody tampered with may say anything. */
function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}

/** Spreadsheets run what begins like a formula, and names come from agents. */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
