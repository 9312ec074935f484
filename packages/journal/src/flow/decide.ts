import {
  isRecoverable,
  isRetryable,
  raise,
  toolError,
  type CostEstimate,
  type Schedule,
  type Settled,
} from '@toolkeel/contract';
import { codeOf, withOperation, withoutOperation, writeAnswer } from '../answer/answer.js';
import { encryptArguments, estimateCost, storedDelegation } from '../answer/arguments.js';
import {
  approvalRequired,
  journalFailed,
  policyRefusal,
  refusal,
  tooManyPending,
  waitsForTime,
} from '../answer/errors.js';
import type { JournalContext } from '../context.js';
import { splitDeadline } from '../deadline.js';
import type { Operation } from '../operation.js';
import type { Decision } from '../options.js';
import type { FencingToken, Settlement } from '../store/store.js';
import type { CallContext } from './call.js';
import { isRepeatedDenial } from './denials.js';
import { endedExecution, execute, type Execution, type OperationRun } from './execute.js';
import { evaluatePolicy, runCheck, withRequestedControls } from './preflight.js';
import { APPROVED_RETRY_MS } from './settle.js';

/** Runs the tool's check and the policy, and executes the operation if both allow it. */
export async function decideAndExecute(
  context: JournalContext,
  run: OperationRun,
): Promise<Execution> {
  const { call, callContext, fencingToken, operation } = run;
  const { id, steps, approval } = operation;
  if (fencingToken) context.running.add(id);
  const { answerBy } = splitDeadline(callContext.deadline, context.clock.now());
  const checked = await runCheck(context, call, answerBy);
  if (!fencingToken || steps.length > 0) return executeRemainingSteps(context, run, checked);
  if (checked?.ok === false) return endUnsent(context, run, withOperation(checked, id));
  // A call that only waited for its time needs the permission of the policy, which may have changed.
  const isApproved = approval?.decision === 'approved' && !approval.byPolicy;
  const requested = withRequestedControls(call, operation);
  const decision = await evaluatePolicy(context, requested, isApproved, delegationOf(context, run));
  if (decision === undefined || decision.kind === 'deny') return refuse(context, run, decision);
  // The check answered without a send, so there is nothing to approve or to simulate.
  if (checked) return endUnsent(context, run, checked);
  if (decision.kind === 'allow') {
    const { schedule } = callContext;
    if (schedule) return park(context, run, fencingToken, { ...SCHEDULED, schedule });
    return execute(context, run, { limits: decision.limits, rule: decision.rule });
  }
  if (decision.kind === 'approve') return park(context, run, fencingToken, decision);
  return refuse(context, run, decision);
}

/** The calls on whose behalf this one is made, also if it was stored meanwhile. */
const delegationOf = (
  { encryption }: JournalContext,
  { operation, callContext }: OperationRun,
): CallContext['onBehalfOf'] => storedDelegation(encryption, operation) ?? callContext.onBehalfOf;

function refuse(
  context: JournalContext,
  run: OperationRun,
  decision: Parameters<typeof policyRefusal>[0],
): Promise<Execution> {
  const error = policyRefusal(decision, run.call, costOf(context, run));
  return endUnsent(context, run, refusal(error, run.operation.id), decision?.rule);
}

/**
 * Resumes an operation with steps, which the policy already allowed and counted. Completed steps are
 * looked up and an open one is read back whatever the check and the policy say now; only a further send
 * needs their permission.
 */
function executeRemainingSteps(
  context: JournalContext,
  run: OperationRun,
  checked: Settled | undefined,
): Execution {
  const recheck = async (): Promise<string | undefined> => {
    if (checked?.ok === false) {
      raise(toolError(checked.error.code, checked.error.message, checked.error));
    }
    const requested = withRequestedControls(run.call, run.operation);
    const decision = await evaluatePolicy(context, requested, true, delegationOf(context, run));
    if (decision?.kind === 'allow') return decision.rule;
    const reason = decision?.kind === 'approve' ? undefined : decision;
    return raise(policyRefusal(reason, run.call, costOf(context, run)));
  };
  return execute(context, run, { limits: [], recheck });
}

/** Ends a run before anything was sent. Completed steps of earlier runs are kept. */
export async function endUnsent(
  context: JournalContext,
  { operation, fencingToken }: Pick<OperationRun, 'operation' | 'fencingToken'>,
  given: Settled,
  rule?: string,
): Promise<Execution> {
  const isRepeat = isRepeatedDenial(context, operation, given);
  const answer = isRepeat ? withoutOperation(given) : given;
  const settlement = unsentSettlement(operation, answer, rule);
  const onWritten = (): void => void context.running.delete(operation.id);
  if (fencingToken) {
    await context.settler.settle(
      fencingToken,
      isRepeat ? { ...settlement, discard: true } : settlement,
      { onWritten },
    );
  }
  return endedExecution(operation, answer, 'arguments');
}

function unsentSettlement(
  { steps, approval }: Operation,
  answer: Settled,
  rule: string | undefined,
): Settlement {
  // A temporary problem, or one that an operator can fix, does not void an approval; a denial by a rule does.
  const isTemporary =
    !answer.ok && (rule === undefined ? isRecoverable : isRetryable)(answer.error.code);
  const staysApproved = approval?.decision === 'approved' && isTemporary;
  return {
    state: steps.length > 0 ? 'claimed' : staysApproved ? 'awaiting_approval' : 'released',
    outcome: 'not_executed',
    answer: writeAnswer(answer),
    code: codeOf(answer),
    holdMs: staysApproved ? APPROVED_RETRY_MS : 0,
    ...(rule !== undefined && { reason: rule }),
  };
}

/** The approval of a call that the policy allows and that waits for its time. */
const SCHEDULED = {
  rule: 'schedule',
  explanation: 'The call waits for its scheduled time.',
  byPolicy: true,
} as const;

type Parking =
  | Pick<Extract<Decision, { kind: 'approve' }>, 'rule' | 'explanation' | 'expiresInMs'>
  | (typeof SCHEDULED & { readonly schedule: Schedule });

/** Stores the operation for a later execution: when an operator approves it, when its time has come, or both. */
async function park(
  context: JournalContext,
  run: OperationRun,
  fencingToken: FencingToken,
  parking: Parking,
): Promise<Execution> {
  const { store, encryption, maxPending } = context;
  const { call, operation } = run;
  const { id, argsHash } = operation;
  const { rule, explanation } = parking;
  // Of an operation that was stored before: the rules have become stricter since.
  const { scheduledFor, expiresAt: expires = 0 } = operation.approval ?? {};
  const {
    schedule = scheduledFor === undefined ? undefined : { at: scheduledFor, expiresAt: expires },
  } = run.callContext;
  const isScheduled = 'byPolicy' in parking;
  const { correlationId } = call;
  // Nothing was sent; the next owner starts over.
  const failed = withOperation(journalFailed(), id);
  const cost = costOf(context, run);
  const delegation = delegationOf(context, run);
  try {
    // On the store's clock, which decides about the expiry.
    const expiresAt =
      schedule?.expiresAt ??
      (await store.now()) + ('expiresInMs' in parking ? parking.expiresInMs : 0);
    const request = {
      rule,
      explanation,
      expiresAt,
      ...(cost && { cost }),
      ...(schedule && { scheduledFor: schedule.at }),
    };
    const pending = await store.awaitApproval(fencingToken, {
      ...request,
      hash: argsHash,
      sensitive: call.tool.sensitive,
      encryptedArgs: encryptArguments(encryption, id, call.args),
      answer: writeAnswer(approvalRequired(id, request)),
      maxPending,
      ...(isScheduled && { byPolicy: true }),
      ...(delegation?.length && { onBehalfOf: encryption.encrypt(JSON.stringify(delegation), id) }),
      ...(call.controls.allowDuplicate && { duplicate: true }),
    });
    if (pending === 'full') {
      return await endUnsent(context, run, refusal(tooManyPending(maxPending), id));
    }
    context.running.delete(id);
    if (!pending?.approval) return endedExecution(operation, failed, 'none');
    if (isScheduled) return endedExecution(pending, waitsForTime(context, pending), 'act');
    context.emit('approval_requested', operation, { correlationId, by: rule });
    return endedExecution(pending, approvalRequired(id, pending.approval), 'act');
  } catch (cause) {
    context.report(cause, correlationId);
    return endUnsent(context, run, failed);
  }
}

function costOf({ report }: JournalContext, { call }: OperationRun): CostEstimate | undefined {
  const { tool, args, correlationId } = call;
  return estimateCost(tool, args, (cause) => report(cause, correlationId));
}
