import { hash } from 'node:crypto';
import type { Identity } from './operation.js';

/** What at most one operation can hold: the place of one act of one account. */
export function slotOf(account: string, tool: string, { by, value }: Identity): string {
  return hash('sha256', JSON.stringify([account, tool, by, value]));
}
