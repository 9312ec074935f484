import { isRetryable, raise, toolError, type CostEstimate, type Settled } from '@toolkeel/contract';
import { estimatedCost } from '../answer/cost.js';
import {
  approvalRequired,
  journalFailed,
  policyRefusal,
  refusal,
  tooManyWait,
} from '../answer/refusals.js';
import { withOperation, withoutOperation } from '../answer/known.js';
import { writeAnswer } from '../answer/stored.js';
import type { Operation } from '../operation.js';
import type { Decision } from '../options.js';
import type { FencingToken, Settlement } from '../store/store.js';
import { asAsked } from './as-asked.js';
import { carryOut, type CarriedOut, type Ended, type Work } from './carry-out.js';
import { checkedBy } from './check-first.js';
import { decide } from './decide.js';
import { isRepeatedRefusal } from './denials.js';
import type { FlowParts } from './parts.js';
import { saysNothingOfTheRequest } from './settlement.js';
import { timesWithin } from './times.js';
import { AGAIN_MS, codeOf } from './write-end.js';

/** An operation that is to be begun, or gone on with. */
export type Begin = Omit<Work, 'limits' | 'rule' | 'permit'>;
type Owned = Begin & { readonly fencingToken: FencingToken };

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

/** Asks the tool's check and the policy, and carries out what both allow. */
export async function begin(parts: FlowParts, work: Begin): Promise<CarriedOut> {
  const { kit } = parts;
  const { call, fencingToken, operation, scope } = work;
  const { id, steps, approval } = operation;
  if (fencingToken) kit.running.add(id);
  const { answerBy } = timesWithin(scope.deadline, kit.clock.now());
  const said = await checkedBy(parts, call, answerBy);
  if (!fencingToken || steps.length > 0) return goOn(parts, work, said);
  if (said?.ok === false) return stop(parts, work, withOperation(said, id));
  const decision = await decide(kit, asAsked(call, operation), approval?.decision === 'approved');
  if (decision === undefined || decision.kind === 'deny') return refuse(parts, work, decision);
  // Nothing would be sent, so there is nothing to approve or to try.
  if (said) return stop(parts, work, said);
  if (decision.kind === 'allow') {
    return carryOut(parts, { ...work, limits: decision.limits, rule: decision.rule });
  }
  if (decision.kind === 'approve') return askPerson(parts, { ...work, fencingToken }, decision);
  return refuse(parts, work, decision);
}

function refuse(
  parts: FlowParts,
  work: Begin,
  decision: Parameters<typeof policyRefusal>[0],
): Promise<CarriedOut> {
  const error = policyRefusal(decision, work.call, costOf(parts, work));
  return stop(parts, work, refusal(error, work.operation.id), decision?.rule);
}

/**
 * What was begun could be sent and was allowed then, and counted. Its steps that are done are looked up
 * and an open one is read back whatever the check and the policy say now; only what would be sent
 * still needs their word.
 */
function goOn(parts: FlowParts, work: Begin, said: Settled | undefined): CarriedOut {
  const permit = async (): Promise<string | undefined> => {
    if (said?.ok === false) raise(toolError(said.error.code, said.error.message, said.error));
    const decision = await decide(parts.kit, asAsked(work.call, work.operation), true);
    if (decision?.kind === 'allow') return decision.rule;
    const reason = decision?.kind === 'approve' ? undefined : decision;
    return raise(policyRefusal(reason, work.call, costOf(parts, work)));
  };
  return carryOut(parts, { ...work, limits: [], permit });
}

/** Ends it before anything was sent. What an earlier life had done waits on. */
export async function stop(
  { kit, settler }: FlowParts,
  { operation, fencingToken }: Pick<Begin, 'operation' | 'fencingToken'>,
  given: Settled,
  reason?: string,
): Promise<CarriedOut> {
  const isRepeat = isRepeatedRefusal(kit, operation, given);
  const answer = isRepeat ? withoutOperation(given) : given;
  const settlement = stopped(operation, answer, reason);
  const onWritten = (): void => void kit.running.delete(operation.id);
  if (fencingToken) {
    await settler.settle(fencingToken, isRepeat ? { ...settlement, discard: true } : settlement, {
      onWritten,
    });
  }
  return over(operation, answer, 'same');
}

function stopped(
  { steps, approval }: Operation,
  answer: Settled,
  reason: string | undefined,
): Settlement {
  // What a person has approved is not lost because of something that passes, or that an operator
  // repairs. A rule is neither.
  const isRule = reason !== undefined;
  const passes = !answer.ok && (isRule ? isRetryable : saysNothingOfTheRequest)(answer.error.code);
  const waitsOn = approval?.decision === 'approved' && passes;
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
  work: Owned,
  decision: Extract<Decision, { kind: 'approve' }>,
): Promise<CarriedOut> {
  const { kit } = parts;
  const { call, operation, fencingToken } = work;
  const { rule, explanation, expiresInMs } = decision;
  const cost = costOf(parts, work);
  try {
    // The store's clock decides when it expires.
    const expiresAt = (await kit.store.now()) + expiresInMs;
    const asked = { rule, explanation, expiresAt, ...(cost && { cost }) };
    const waiting = await kit.store.awaitApproval(fencingToken, {
      rule,
      explanation,
      hash: operation.argsHash,
      expiresAt,
      sensitive: call.tool.sensitive,
      encryptedArgs: kit.encryption.encrypt(JSON.stringify(call.args), operation.id),
      answer: writeAnswer(approvalRequired(operation.id, asked)),
      maxPending: kit.maxPending,
      ...(call.controls.allowDuplicate && { duplicate: true }),
      ...(cost && { cost }),
    });
    if (waiting === 'full') {
      return await stop(parts, work, refusal(tooManyWait(kit.maxPending), operation.id));
    }
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
  const { tool, args, correlationId } = call;
  return estimatedCost(tool, args, (cause) => kit.report(cause, correlationId));
}
