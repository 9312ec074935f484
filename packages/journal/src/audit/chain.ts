import { hash } from 'node:crypto';
import type { AuditEntry } from '../store/store.js';
import type { AuditRow } from './row.js';

/** The end of a chain: what is kept elsewhere, so that nobody can cut rows off unseen. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** What stands before the first row. */
export const GENESIS: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** The next row of the chain. */
export function link(head: AuditHead, entry: AuditEntry, at: number): AuditRow {
  const { kind, operationId, tool, account, actor } = entry;
  const row: { -readonly [K in keyof AuditRow]: AuditRow[K] } = {
    seq: head.seq + 1,
    at,
    kind,
    actor,
    detail: JSON.stringify(entry.detail ?? {}),
    prev: head.hash,
    hash: '',
  };
  if (operationId !== undefined) row.operationId = operationId;
  if (tool !== undefined) row.tool = tool;
  if (account !== undefined) row.account = account;
  row.hash = hashOf(row);
  return row;
}

/**
 * SHA-256 over the canonical JSON (RFC 8785) of all other members: these are strings and whole
 * numbers, so writing them in alphabetical order is all that it takes.
 */
export function hashOf(row: Omit<AuditRow, 'hash' | 'malformed'>): string {
  const { account, actor, at, detail, kind, operationId, prev, seq, tool } = row;
  return hash(
    'sha256',
    JSON.stringify({ account, actor, at, detail, kind, operationId, prev, seq, tool }),
  );
}
