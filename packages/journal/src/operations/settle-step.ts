import { writeAnswer } from '../answer/stored.js';
import { unknownOutcome } from '../answer/refusals.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import type { Resolution } from './operations.js';

/**
 * A person says how an open step ended. The operation is then half done: a re-issue goes on after the
 * step, or with it. The word is written to the audit, because the steps themselves know no people.
 */
export async function settleStep(
  { store, tenure }: Pick<Kit, 'store' | 'tenure'>,
  operation: Operation,
  step: string,
  { outcome, by, reason, data }: Resolution,
): Promise<boolean> {
  const { id, fence, tool, account } = operation;
  const owner = await tenure.current();
  const taken = await store.takeOver(id, owner, fence);
  if (!taken) return false;
  const fencingToken = { id, owner, fence: taken.fence };
  await store.audit({
    kind: 'step_resolved',
    operationId: id,
    tool,
    account,
    actor: by,
    detail: { step, outcome, ...(reason !== undefined && { reason }) },
  });
  const isDone =
    outcome === 'executed'
      ? await store.completeStep(fencingToken, step, JSON.stringify(data))
      : await store.reopenStep(fencingToken, step);
  const answer = operation.answer ?? writeAnswer(unknownOutcome(id));
  const code = operation.code ?? 'outcome_unknown';
  const goesOn = outcome === 'executed' || operation.steps.length > 1;
  const state = goesOn ? 'claimed' : 'released';
  return isDone && store.settle(fencingToken, { state, outcome, answer, code, holdMs: 0 });
}
