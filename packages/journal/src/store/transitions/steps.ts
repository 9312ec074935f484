import type { Step } from '../../operation.js';
import type { OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { isHeldBy, isSettled } from '../states.js';
import type { FencingToken } from '../store.js';
import type { Tables } from '../tables.js';
import { record as entry } from './audit-entry.js';

export function* completeStep(
  tables: Tables,
  fencingToken: FencingToken,
  name: string,
  result: string,
): Script<boolean> {
  const operation = yield* held(tables, fencingToken);
  if (operation === undefined) return false;
  const earlier = operation.steps.find((step) => step.name === name);
  if (earlier?.state === 'done') return true;
  const done: Step = { name, state: 'done', result, at: tables.now };
  const steps = [...operation.steps.filter((step) => step !== earlier), done];
  yield* clearedUp(tables, operation, earlier, fencingToken);
  return yield* goOn(tables, operation, fencingToken, 'step_done', name, steps);
}

export function* reopenStep(
  tables: Tables,
  fencingToken: FencingToken,
  name: string,
): Script<boolean> {
  const operation = yield* held(tables, fencingToken);
  const open = operation?.steps.find((step) => step.name === name && step.state === 'sending');
  if (operation === undefined || open === undefined) return false;
  const steps = operation.steps.filter((step) => step !== open);
  yield* clearedUp(tables, operation, open, fencingToken);
  return yield* goOn(tables, operation, fencingToken, 'step_reopened', name, steps);
}

/** Also one that lapsed meanwhile: nobody else has it, and its former owner knows. */
function* held(tables: Tables, fencingToken: FencingToken): Script<OperationRecord | undefined> {
  const operation = yield* tables.operations.get(fencingToken.id);
  if (!isHeldBy(operation, fencingToken) || isSettled(operation)) return undefined;
  return operation;
}

/** Somebody may have been told that nobody knows the end of this step. Of another one he is told anew. */
function* clearedUp(
  tables: Tables,
  { id, state }: OperationRecord,
  step: Step | undefined,
  { owner }: FencingToken,
): Script<void> {
  const isOwn = state !== 'unknown' && (step === undefined || step.owner === owner);
  if (!isOwn) yield* tables.notices.withdraw('operation_unknown', id);
}

function* goOn(
  tables: Tables,
  operation: OperationRecord,
  fencingToken: FencingToken,
  kind: string,
  step: string,
  steps: readonly Step[],
): Script<true> {
  const after = yield* tables.operations.update(operation, {
    state: 'claimed',
    // Whoever lapsed meanwhile knows of this step, and sends no other.
    owner: operation.state === 'unknown' ? undefined : operation.owner,
    outcome: undefined,
    steps,
  });
  yield* tables.audit.append(entry(kind, after, fencingToken.owner, { step }));
  return true;
}
