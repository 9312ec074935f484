import { hash } from 'node:crypto';
import type { AuditEntry } from '../store/store.js';
import { keepable } from '../text.js';
import type { AuditRow } from './row.js';

/** The end of a chain: what is kept elsewhere, so that nobody can cut rows off unseen. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** What stands before the first row. */
export const GENESIS: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** A row that has not found its place yet. */
export type Unlinked = Omit<AuditRow, 'seq' | 'prev' | 'hash' | 'malformed'>;

export function unlinked(entry: AuditEntry, at: number): Unlinked {
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
  // All members are strings and whole numbers, so the alphabetical order is all that makes it canonical.
  const { account, actor, at, detail, kind, operationId, prev, seq, tool } = row;
  const members = { account, actor, at, detail, kind, operationId, prev, seq, tool };
  return hash('sha256', JSON.stringify(members));
}

/** What stands before, between and behind `prev` and `seq`, which PostgreSQL fills in itself. */
export function canonicalParts(row: Unlinked): readonly [string, string, string] {
  const { account, actor, at, detail, kind, operationId, tool } = row;
  const front = JSON.stringify({ account, actor, at, detail, kind, operationId });
  const back = tool === undefined ? '}' : `,"tool":${JSON.stringify(tool)}}`;
  return [`${front.slice(0, -1)},"prev":`, ',"seq":', back];
}
