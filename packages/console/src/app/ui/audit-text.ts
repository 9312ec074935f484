import type { AuditRow } from '../../api/types.js';
import { shortId, words } from '../lib/format.js';

/** What an entry records: `settled: unknown` is another thing than `settled: succeeded`. */
export function auditText({ kind, detail }: Pick<AuditRow, 'kind' | 'detail'>): string {
  const { decision, outcome, state } = detail;
  const result = [decision, outcome, state].find((value) => typeof value === 'string');
  const isSaid = result === undefined || kind.endsWith(result);
  return isSaid ? words(kind) : `${words(kind)}: ${words(result)}`;
}

/** Servers sign with an id of their own, people with their name. */
export function actorText(actor: string): string {
  return actor.startsWith('own_') ? `server ${shortId(actor)}` : actor;
}
