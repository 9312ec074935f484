import type { AuditRow } from './row.js';

/**
 * A row as it stands in a database that somebody may have tampered with. What is not of its type is
 * shown as text, and the row says so: one bad row must not keep anybody from reading the others.
 */
export function readAuditRow(row: Readonly<Record<string, unknown>>): AuditRow {
  const wrong: string[] = [];
  const text = (name: string): string => {
    const value = row[name];
    if (typeof value === 'string') return value;
    wrong.push(`${name} is not text`);
    return shown(value);
  };
  const whole = (name: string): number => {
    const value = row[name];
    if (Number.isSafeInteger(value)) return value as number;
    wrong.push(`${name} is not a whole number`);
    return Number(value) || 0;
  };
  const optional = <K extends string>(member: K, name: string): { [key in K]?: string } =>
    row[name] === null || row[name] === undefined
      ? {}
      : ({ [member]: text(name) } as { [key in K]: string });

  const read: AuditRow = {
    seq: whole('seq'),
    at: whole('at'),
    kind: text('kind'),
    ...optional('operationId', 'operation_id'),
    ...optional('tool', 'tool'),
    ...optional('account', 'account'),
    actor: text('actor'),
    detail: text('detail'),
    prev: text('prev'),
    hash: text('hash'),
  };
  if (!isJsonObject(read.detail)) wrong.push('detail is not a JSON object');
  return wrong.length === 0 ? read : { ...read, malformed: wrong.join('; ') };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function shown(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
