import type { AuditRow } from './row.js';

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
