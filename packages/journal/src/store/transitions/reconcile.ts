import type { Script } from '../script.js';
import type { Act, Verdict } from '../store.js';
import type { Tables } from '../tables.js';
import { record as entry } from './audit-entry.js';
import { asLastDone } from './last-done.js';
import { held, NOT_AT_ALL } from './places.js';
import { freeAll } from './settle.js';

/** Somebody found out, or a person decided: also about one that stopped half way and has no owner. */
export function* reconcile(
  tables: Tables,
  id: string,
  verdict: Verdict,
  placeOf: (act: Act) => string,
): Script<boolean> {
  const operation = yield* tables.operations.get(id);
  const waits = operation?.state === 'claimed' && operation.owner === undefined;
  if (operation === undefined || (operation.state !== 'unknown' && !waits)) return false;

  const { outcome, answer, code, by, reason, evidence } = verdict;
  const isExecuted = outcome === 'executed';
  const placed = isExecuted ? yield* asLastDone(tables, operation, placeOf) : operation;
  const after = yield* tables.operations.update(operation, {
    state: 'reconciled',
    outcome,
    answer,
    code,
    owner: undefined,
    fence: operation.fence + 1,
    settledAt: tables.now,
    ...held(placed, tables.now, isExecuted ? verdict : NOT_AT_ALL),
  });
  if (verdict.releases !== undefined) yield* freeAll(tables, verdict.releases, by);
  yield* tables.audit.append(entry('reconciled', after, by, { outcome, code, reason, evidence }));
  return true;
}
