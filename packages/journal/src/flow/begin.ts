import type { CostEstimate, Settled } from '@toolkeel/contract';
import {
  approvalRequired,
  denied,
  dryRun,
  journalFailed,
  policyError,
} from '../answer/refusals.js';
import { withOperation } from '../answer/known.js';
import { writeAnswer } from '../answer/stored.js';
import type { Operation } from '../operation.js';
import type { Decision } from '../options.js';
import type { Grip, Settlement } from '../store/store.js';
import { AGAIN_MS, carryOut, codeOf, type CarriedOut, type Ended, type Work } from './carry-out.js';
import type { FlowParts } from './parts.js';

export type Begin = Omit<Work, 'limits' | 'grip'> & { readonly grip: Grip | undefined };

/** Something that is over already. */
export function over(
  operation: Operation,
  answer: Settled,
  concerns: Ended['concerns'],
  finished = false,
): CarriedOut {
  const ended = Promise.resolve({ operation, answer, concerns, finished });
  return { answered: Promise.resolve(answer), ended };
}

/** Asks the policy, and carries out what it allows. The operation is ours, and nothing was sent yet in this life. */
export async function begin(parts: FlowParts, work: Begin): Promise<CarriedOut> {
  const { kit } = parts;
  const { call, operation } = work;
  if (work.grip) kit.running.add(operation.id);
  const approved = operation.approval?.decision === 'approved';
  let decision: Decision;
  try {
    decision = kit.decide
      ? await kit.decide(call, { approved, now: kit.clock.wallNow() })
      : { kind: 'allow', limits: [] };
    if (approved && decision.kind === 'approve') {
      throw new TypeError(`rule ${decision.rule} asks again for what a person has approved`);
    }
  } catch (cause) {
    kit.report(cause, call.correlationId);
    return stop(parts, work, policyError(operation.id));
  }
  switch (decision.kind) {
    case 'allow':
      return carryOut(parts, { ...work, limits: decision.limits });
    case 'deny':
      return stop(parts, work, denied(decision, operation.id), decision.rule);
    case 'dry_run':
      return stop(parts, work, dryRun(decision, call, operation.id), decision.rule);
    case 'approve':
      return askPerson(parts, work, decision);
  }
}

/** Ends it before anything was sent. What an earlier life had done waits on. */
export async function stop(
  { kit, settler }: FlowParts,
  { operation, grip }: Pick<Begin, 'operation' | 'grip'>,
  answer: Settled,
  reason?: string,
): Promise<CarriedOut> {
  const onWritten = (): void => void kit.running.delete(operation.id);
  if (grip) await settler.settle(grip, stopped(operation, answer, reason), { onWritten });
  return over(operation, answer, 'same');
}

function stopped(
  { steps, approval }: Operation,
  answer: Settled,
  reason: string | undefined,
): Settlement {
  // What a person has approved is not lost because a policy could not be asked just now.
  const waitsOn = approval?.decision === 'approved' && codeOf(answer) === 'policy_error';
  return {
    state: steps.length > 0 ? 'claimed' : waitsOn ? 'awaiting_approval' : 'released',
    outcome: 'not_executed',
    answer: writeAnswer(answer),
    code: codeOf(answer),
    holdMs: waitsOn ? AGAIN_MS : 0,
    ...(reason !== undefined && { reason }),
  };
}

async function askPerson(
  parts: FlowParts,
  work: Begin,
  decision: Extract<Decision, { kind: 'approve' }>,
): Promise<CarriedOut> {
  const { kit } = parts;
  const { call, operation, grip } = work;
  const { rule, explanation, expiresInMs } = decision;
  // An operation that nobody owns has sent something already: too late to ask whether it may.
  if (!grip) return stop(parts, work, policyError(operation.id));
  const cost = costOf(parts, work);
  const asked = { rule, explanation, expiresAt: kit.clock.wallNow() + expiresInMs };
  try {
    const waiting = await kit.store.awaitApproval(grip, {
      rule,
      explanation,
      hash: operation.argsHash,
      expiresInMs,
      sealedArgs: kit.sealing.seal(JSON.stringify(call.args), operation.id),
      answer: writeAnswer(approvalRequired(operation.id, asked)),
      ...(cost && { cost }),
    });
    kit.running.delete(operation.id);
    if (!waiting?.approval) return over(operation, lost(operation), 'none');
    const { id, tool, account } = operation;
    const { correlationId } = call;
    kit.observe({
      type: 'approval_requested',
      operationId: id,
      tool,
      account,
      correlationId,
      by: rule,
    });
    return over(waiting, approvalRequired(id, waiting.approval), 'all');
  } catch (cause) {
    kit.report(cause, call.correlationId);
    return stop(parts, work, lost(operation));
  }
}

/** Nothing was sent, and whoever owns it now has to begin anew. */
const lost = ({ id }: Operation): Settled => withOperation(journalFailed(), id);

function costOf({ kit }: FlowParts, { call }: Begin): CostEstimate | undefined {
  try {
    return call.tool.estimateCost?.(call.args);
  } catch (cause) {
    kit.report(cause, call.correlationId);
    return undefined;
  }
}
