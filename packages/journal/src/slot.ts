import { hash } from 'node:crypto';
import type { DedupKey } from './operation.js';

/** What at most one operation can hold: the place of one act of one account. */
export function scopedDedupKey(account: string, tool: string, { by, value }: DedupKey): string {
  return hash('sha256', JSON.stringify([account, tool, by, value]));
}
