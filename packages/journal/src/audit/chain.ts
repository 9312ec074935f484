import { hash } from 'node:crypto';
import type { AuditEntry } from '../store/store.js';
import { keepable } from '../text.js';

/** The last row of a chain. Stored outside the database, it proves that no later rows were removed. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** The predecessor of the first row. */
export const GENESIS: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** A row without its position in the chain. */
export type Unlinked = Omit<AuditRow, 'seq' | 'prev' | 'hash' | 'malformed'>;

export function toUnlinked(entry: AuditEntry, at: number): Unlinked {
  const row: { -readonly [K in keyof Unlinked]: Unlinked[K] } = {
    at,
    kind: keepable(entry.kind),
    actor: keepable(entry.actor),
    detail: JSON.stringify(entry.detail ?? {}),
  };
  if (entry.operationId !== undefined) row.operationId = keepable(entry.operationId);
  if (entry.tool !== undefined) row.tool = keepable(entry.tool);
  if (entry.account !== undefined) row.account = keepable(entry.account);
  return row;
}

/** The next row of the chain. */
export function link(head: AuditHead, row: Unlinked): AuditRow {
  const linked: { -readonly [K in keyof AuditRow]: AuditRow[K] } = {
    seq: head.seq + 1,
    at: row.at,
    kind: row.kind,
    actor: row.actor,
    detail: row.detail,
    prev: head.hash,
    hash: '',
  };
  if (row.operationId !== undefined) linked.operationId = row.operationId;
  if (row.tool !== undefined) linked.tool = row.tool;
  if (row.account !== undefined) linked.account = row.account;
  linked.hash = hashOf(linked);
  return linked;
}

/** SHA-256 over the canonical JSON (RFC 8785) of all other members. */
export function hashOf(row: Omit<AuditRow, 'hash' | 'malformed'>): string {
  // All members are strings and integers, so alphabetical order makes the JSON canonical.
  const { account, actor, at, detail, kind, operationId, prev, seq, tool } = row;
  const members = { account, actor, at, detail, kind, operationId, prev, seq, tool };
  return hash('sha256', JSON.stringify(members));
}

/** The canonical JSON around the values of `at`, `prev` and `seq`, which PostgreSQL fills in. */
export function canonicalParts(row: Unlinked): readonly [string, string, string] {
  const { account, actor, detail, kind, operationId, tool } = row;
  const front = JSON.stringify({ account, actor }).slice(0, -1);
  const middle = JSON.stringify({ detail, kind, operationId }).slice(1, -1);
  const back = tool === undefined ? '}' : `,"tool":${JSON.stringify(tool)}}`;
  return [`${front},"at":`, `,${middle},"prev":`, back];
}

/** One link of the audit chain. `hash` covers all other fields and `prev`. */
export interface AuditRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly operationId?: string;
  readonly tool?: string;
  readonly account?: string;
  readonly actor: string;
  /** A JSON string, as hashed. */
  readonly detail: string;
  readonly prev: string;
  readonly hash: string;
  /** Why part of the row is unreadable; readers continue with the next row. */
  readonly malformed?: string;
}

/**
 * Reads a row of a database that may have been tampered with. Values of a wrong type are converted to
 * strings and reported in `malformed`, so that one bad row does not block reading the others.
 */
export function readAuditRow(row: Readonly<Record<string, unknown>>): AuditRow {
  const problems: string[] = [];
  const text = (name: string): string => {
    const value = row[name];
    if (typeof value === 'string') return value;
    problems.push(`${name} is not text`);
    return toText(value);
  };
  const whole = (name: string): number => {
    const value = row[name];
    if (Number.isSafeInteger(value)) return value as number;
    problems.push(`${name} is not a whole number`);
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
  if (!isJsonObject(read.detail)) problems.push('detail is not a JSON object');
  return problems.length === 0 ? read : { ...read, malformed: problems.join('; ') };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function toText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

/** The actor of automatic reconciliation; no operator has this name. */
export const READ_BACK = 'read-back';

/** The kinds of rows that record operator decisions, unless their actor is READ_BACK. */
export const OPERATOR_KINDS = ['approval_decided', 'reconciled', 'step_resolved'] as const;
