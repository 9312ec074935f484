import {
  ContractViolation,
  toolError,
  type AcceptedCall,
  type Next,
  type Settled,
} from '@toolkeel/contract';
import {
  codeOf,
  deadlineExceeded,
  failureBeforeSend,
  withOperation,
  withoutOperation,
  writeAnswer,
} from '../answer/answer.js';
import { unknownOutcome } from '../answer/errors.js';
import { unref } from '../background/every.js';
import type { JournalContext } from '../context.js';
import { splitDeadline, TOO_LATE, withDeadline } from '../deadline.js';
import type { Operation } from '../operation.js';
import { readBack, type ReadBackResult } from '../reconcile/read-back.js';
import type { FencingToken, Limit } from '../store/store.js';
import type { CallContext } from './call.js';
import { isRepeatedDenial } from './denials.js';
import { openHandle, type OperationHandle } from './operation-handle.js';
import { establishOutcome, isUnrecordedSend, type EstablishedOutcome } from './outcome.js';
import { settle } from './settle.js';

/** One run of an operation in this process: a new one, or the resumption of an earlier run. */
export interface OperationRun {
  readonly call: AcceptedCall;
  readonly next: Next;
  readonly callContext: CallContext;
  readonly operation: Operation;
  /** Undefined for an `unknown` operation with an open step, which has no owner. */
  readonly fencingToken: FencingToken | undefined;
}

/** The policy's permission to send. */
export interface SendPermission {
  readonly limits: readonly Limit[];
  /** The rule that allowed it. */
  readonly rule?: string | undefined;
  /** Called before the first send of a resumed run. Returns the rule that allows it, or throws. */
  readonly recheck?: () => Promise<string | undefined>;
}

/** The final state of a run, for every caller that waits for it. */
export interface ExecutionResult {
  readonly operation: Operation;
  readonly answer: Settled;
  /** Which callers may share the answer: those of the same act, with the same arguments, or none. */
  readonly sharedWith: 'act' | 'arguments' | 'none';
  /** The operation is finished, and repeats get this answer. */
  readonly isFinal: boolean;
  /** This process owned the operation when it ended. */
  readonly wasOwned?: boolean;
}

export interface Execution {
  /** The caller's answer, in time for its deadline. */
  readonly answered: Promise<Settled>;
  /** The true result, however late. */
  readonly ended: Promise<ExecutionResult>;
  /** Resolves when the handler is given up: from then on the store knows more than this process. */
  readonly abandoned?: Promise<void>;
  /** An earlier call executed the operation. */
  readonly isReplay?: true;
}

/** An execution that has already ended. */
export function endedExecution(
  operation: Operation,
  answer: Settled,
  sharedWith: ExecutionResult['sharedWith'],
  isFinal = false,
): Execution {
  const ended = Promise.resolve({ operation, answer, sharedWith, isFinal });
  return { answered: Promise.resolve(answer), ended };
}

/** Runs the handler of an operation that this process owns, and settles the operation. */
export function execute(
  context: JournalContext,
  run: OperationRun,
  permission: SendPermission,
): Execution {
  const { clock } = context;
  const { call, callContext, operation } = run;
  const { tool, args, correlationId } = call;
  const { id, account, effect } = operation;
  const deadlines = splitDeadline(callContext.deadline, clock.now());
  const handle = openHandle(context, run, permission, deadlines);
  let known: Settled | undefined;
  let lateTimer: unknown;
  let wasGivenUp = false;
  let abandon = (): void => undefined;
  const abandoned = new Promise<void>((resolve) => {
    abandon = resolve;
  });

  const readBackOwn = (): Promise<ReadBackResult> => {
    const sentAt = handle.sentAt() ?? clock.wallNow();
    return readBack(context, tool, { id, account, args, correlationId, sentAt });
  };

  const runAndSettle = async (): Promise<ExecutionResult> => {
    const settled = await runHandler(context, run, handle, deadlines.handlerBy);
    const isLate = clock.now() >= deadlines.handlerBy || callContext.signal.aborted;
    handle.revoke();
    const progress = handle.progress();
    if (isUnrecordedSend({ settled, ...progress })) {
      const problem = 'failed after it may have sent something without calling operation.send';
      context.report(new ContractViolation(tool.name, problem), correlationId);
    }
    const outcome = await establishOutcome({
      settled,
      effect,
      ...progress,
      tool,
      operationId: id,
      readBack: readBackOwn,
    });
    const isRepeat =
      progress.sent === 'nothing' &&
      progress.stepsDone === 0 &&
      isRepeatedDenial(context, operation, outcome.answer);
    known = isRepeat ? withoutOperation(outcome.answer) : outcome.answer;
    if (lateTimer !== undefined) clock.clearTimer(lateTimer);
    await settle(context, run, handle, outcome, isRepeat);
    const { state } = outcome;
    if (state === 'unknown' && !wasGivenUp) context.emit('operation_unknown', operation);
    if (state !== 'unknown' && wasGivenUp) {
      const result = outcome.outcome;
      context.emit('operation_reconciled', operation, { result, by: 'handler' });
    }
    return {
      operation,
      answer: known,
      sharedWith: sharedWith(outcome, isLate),
      isFinal: state === 'succeeded' || state === 'rejected',
      wasOwned: handle.fencingToken() !== undefined,
    };
  };

  /** The answer at the caller's deadline, while the handler still runs. */
  const answerEarly = (): Settled => {
    if (known) return known;
    const maySend = !handle.revoke();
    const { stepsDone } = handle.progress();
    const { error } =
      maySend && effect === 'once'
        ? unknownOutcome(id, deadlineExceeded(tool, 'maybe').error.code, 'deadline')
        : deadlineExceeded(tool, maySend ? 'maybe' : 'no');
    const isPartial = !maySend && stepsDone > 0;
    const answer = withOperation<Settled>(
      { ok: false, error: isPartial ? { ...error, outcome: undefined } : error },
      id,
    );
    if (maySend) giveUpLater(answer);
    return answer;
  };

  /** A handler that never ends must not keep its operation in `sending` forever. */
  const giveUpLater = (answer: Settled): void => {
    lateTimer = clock.setTimer(context.times.lateMs, () => {
      const fencingToken = handle.fencingToken();
      if (!fencingToken) return;
      const state = effect === 'once' ? 'unknown' : 'released';
      void context.settler
        .settle(fencingToken, {
          state,
          outcome: 'unknown',
          answer: writeAnswer(answer),
          code: codeOf(answer),
          holdMs: 0,
          ...(state === 'unknown' && { stillRunning: true }),
        })
        .then((written) => {
          wasGivenUp = written === 'settled' && state === 'unknown';
          if (wasGivenUp) context.emit('operation_unknown', operation);
          abandon();
        });
    });
    unref(lateTimer);
  };

  const ended = runAndSettle();
  context.track(ended);
  const answered = withDeadline(clock, deadlines.answerBy, ended).then((result) =>
    result === TOO_LATE ? answerEarly() : result.answer,
  );
  return { answered, ended, abandoned };
}

/**
 * Runs the handler; in automatic mode after recording the send. A middleware between the journal and the
 * handler may throw, and then it is unknown how far the handler came.
 */
async function runHandler(
  { report }: JournalContext,
  { next, call: { tool }, operation: { correlationId } }: OperationRun,
  { operation, recordSend }: OperationHandle,
  deadline: number,
): Promise<Settled> {
  if (tool.send === 'automatic') {
    try {
      await recordSend();
    } catch (cause) {
      return failureBeforeSend(tool, cause);
    }
  }
  try {
    return await next(
      deadline === Number.POSITIVE_INFINITY ? { operation } : { operation, deadline },
    );
  } catch (cause) {
    report(cause, correlationId);
    const text = 'Internal error; see the server log for this correlation id.';
    return { ok: false, error: toolError('internal_error', text, { outcome: 'unknown' }).input };
  }
}

function sharedWith({ state }: EstablishedOutcome, isLate: boolean): ExecutionResult['sharedWith'] {
  if (state !== 'released' && state !== 'claimed') return 'act';
  return isLate ? 'none' : 'arguments';
}
