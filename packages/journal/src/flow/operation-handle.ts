import {
  ContractViolation,
  raise,
  withSendToken,
  type Others,
  type StepReadBack,
  type ToolOperation,
} from '@toolkeel/contract';
import { outcomeOfThrown } from '../answer/answer.js';
import { estimateCost } from '../answer/arguments.js';
import { contentConflict, policyLimited, refuseSend } from '../answer/errors.js';
import type { JournalContext } from '../context.js';
import { TOO_LATE, withDeadline, type CallDeadlines } from '../deadline.js';
import { keyGivenTo, type Operation } from '../operation.js';
import { otherOperations, otherOperationsNear } from '../reconcile/read-back.js';
import { doubtOfAbsence, provesAbsenceAtOnce } from '../reconcile/absence.js';
import type { FencingToken, SendResult } from '../store/store.js';
import type { OperationRun, SendPermission } from './execute.js';
import { compensatedOperations } from './inverse.js';
import type { HandlerEnd } from './outcome.js';
import { createSteps, type Steps } from './steps.js';

/** An operation while its handler runs. */
export interface OperationHandle {
  /** The handler's view. */
  readonly operation: ToolOperation;
  /** Automatic mode: records the send before the handler runs. Throws if nothing may be sent. */
  readonly recordSend: () => Promise<void>;
  /** Prevents further sends. Returns false if a request may be on its way already. */
  readonly revoke: () => boolean;
  readonly progress: () => Pick<HandlerEnd, 'sent' | 'stepsDone' | 'stepOpen'>;
  /** When the operation was first sent, on the store's clock. */
  readonly sentAt: () => number | undefined;
  /** Undefined while this process has not taken the operation over from its former owner. */
  readonly fencingToken: () => FencingToken | undefined;
  /** A step result that must be written before the operation can settle. */
  readonly unwritten: Steps['unwritten'];
}

export function openHandle(
  context: JournalContext,
  { call, callContext, operation, fencingToken: givenToken }: OperationRun,
  permission: SendPermission,
  { answerBy }: CallDeadlines,
): OperationHandle {
  const { store, clock } = context;
  const { tool, args, controls } = call;
  const { id, account, effect, correlationId } = operation;
  /** The operation has an idempotency key, and no repeat is intended. */
  const exclusive =
    keyGivenTo(operation) !== undefined &&
    !controls.allowDuplicate &&
    operation.approval?.duplicate !== true;
  let fencingToken = givenToken;
  let revoked = false;
  let sent = false;
  let sentAt = operation.sendingAt;
  /** Policy, limits, cost and releases apply to the first send only. */
  let isFirstSend = true;
  let { rule } = permission;

  const report = (cause: unknown): void => context.report(cause, correlationId);

  const acquire = async (): Promise<FencingToken | undefined> => {
    if (fencingToken) return fencingToken;
    const owner = await context.ownerLease.current();
    const taken = await takeOver(owner);
    if (taken) fencingToken = { id, owner, fence: taken.fence };
    return fencingToken;
  };

  const takeOver = async (owner: string): Promise<Operation | undefined> => {
    try {
      return await store.takeOver(id, owner, operation.fence);
    } catch (cause) {
      context.orphanedClaims.suspect();
      throw cause;
    }
  };

  const refuseWhenOver = (): void => {
    if (revoked || clock.now() >= answerBy) refuseSend.deadlineExceeded();
    if (callContext.signal.aborted) refuseSend.cancelled(callContext.signal.reason);
  };

  const writeSend = async (step?: string): Promise<SendResult & { readonly fence: number }> => {
    try {
      const token = await acquire();
      if (!token) return { kind: 'lost', fence: 0 };
      const cost = isFirstSend && tool.estimateCost ? estimateCost(tool, args, report) : undefined;
      // The outcome may stay unknown: repeatable counterparts are released before the send.
      const releases =
        isFirstSend && tool.inverse
          ? await compensatedOperations(context, tool, account, args, 'repeatable')
          : [];
      const request = {
        limits: isFirstSend ? permission.limits : [],
        ...(rule !== undefined && { rule }),
        ...(step !== undefined && { step }),
        ...(cost && { cost }),
        ...(releases.length > 0 && { releases }),
        ...(exclusive && { exclusive: true }),
      };
      return { ...(await store.send(token, request)), fence: token.fence };
    } catch (cause) {
      report(cause);
      if (step !== undefined) steps.grantLost(step);
      return refuseSend.journalUnavailable('not_executed', cause);
    }
  };

  /**
   * Records `sending` durably. The grant is valid until it is revoked; a further attempt asks again,
   * because the operation may have been taken over in the meantime.
   */
  const requestSend = async (
    step?: string,
  ): Promise<{ readonly at: number; readonly fence: number }> => {
    if (isFirstSend && permission.recheck) rule = await permission.recheck();
    const result = await writeSend(step);
    if (result.kind === 'lost') return refuseSend.ownershipLost();
    if (result.kind === 'limited') return raise(policyLimited(result.limit, result.retryAfterMs));
    if (result.kind === 'conflict') return raise(contentConflict(result.operation));
    isFirstSend = false;
    sentAt ??= result.at;
    return { at: result.at, fence: result.fence };
  };

  const steps = createSteps({
    operation,
    store,
    report,
    resultSchema: tool.step,
    fencingToken: acquire,
    provesAbsence: async (absence, sentBy) =>
      sentBy === 'this_run'
        ? provesAbsenceAtOnce(absence)
        : (await doubtOfAbsence(context, operation, absence)) === undefined,
    readBack: async <T>({ readBack }: StepReadBack<T>, stepSentAt: number) => {
      try {
        const others: Others = (tools) =>
          otherOperationsNear(context, operation, stepSentAt, tools);
        const reading = readBack({ sentAt: stepSentAt, others });
        const result = await withDeadline(clock, answerBy, reading);
        return result === TOO_LATE ? { found: 'unknown' } : result;
      } catch (cause) {
        report(cause);
        return { found: 'unknown' };
      }
    },
  });

  /** Returns the fence of the grant. */
  const recordSend = async (): Promise<number> => {
    refuseWhenOver();
    const open = steps.open();
    if (open !== undefined) return refuseSend.stepUnknown(open);
    if (steps.unwritten()) return refuseSend.stepUnwritten();
    const step = steps.current();
    const { at, fence } = await requestSend(step?.name);
    if (step) step.grantedAt = at;
    refuseWhenOver();
    if (step) step.sent = true;
    else sent = true;
    callContext.hold();
    return fence;
  };

  /** The last write per step; the empty name stands for the operation itself. */
  const writes = new Map<string, 'running' | 'not_executed' | 'sent'>();
  let recording: Promise<unknown> | undefined;
  let automaticFence: number | undefined;

  const send: ToolOperation['send'] = async (write, { signal } = {}) => {
    // An attempt that was aborted while its grant was recorded sends nothing; wait for its turn to end.
    for (let pending = recording; pending; pending = recording) await pending;
    const name = steps.current()?.name ?? '';
    const before = writes.get(name);
    if (effect === 'once' && (before === 'running' || before === 'sent')) {
      report(new ContractViolation(tool.name, 'called operation.send again after a write'));
      return refuseSend.alreadySent();
    }
    let fence = automaticFence;
    if (fence === undefined) {
      const granted = recordSend();
      recording = granted.catch(() => undefined).finally(() => (recording = undefined));
      fence = await granted;
    }
    if (signal?.aborted) refuseSend.cancelled(signal.reason);
    writes.set(name, 'running');
    try {
      const result = await withSendToken(fence, write);
      writes.set(name, 'sent');
      return result;
    } catch (cause) {
      writes.set(name, outcomeOfThrown(cause) === 'not_executed' ? 'not_executed' : 'sent');
      throw cause;
    }
  };

  // A handler that ends while its step still runs has abandoned the step.
  const isStepOpen = (): boolean => steps.open() !== undefined || steps.current()?.sent === true;

  return {
    operation: {
      id,
      account,
      send,
      step: tool.send === 'explicit' ? steps.step : () => refuseSend.needsExplicitSend(),
      others: (tools) => otherOperations(context, operation, operation.createdAt, { tools }),
    },
    recordSend: async () => {
      automaticFence = await recordSend();
    },
    revoke: () => {
      revoked = true;
      return !sent && !isStepOpen();
    },
    progress: () => ({
      sent: sent ? 'operation' : steps.wasRefused() ? 'step' : 'nothing',
      stepsDone: steps.doneCount(),
      stepOpen: isStepOpen(),
    }),
    sentAt: () => sentAt,
    fencingToken: () => fencingToken,
    unwritten: steps.unwritten,
  };
}
