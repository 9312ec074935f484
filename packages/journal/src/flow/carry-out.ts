import {
  ContractViolation,
  toolError,
  type AcceptedCall,
  type Next,
  type Settled,
} from '@toolkeel/contract';
import { estimatedCost } from '../answer/cost.js';
import { outOfTime, withOperation, withoutOperation } from '../answer/known.js';
import { unknownOutcome } from '../answer/refusals.js';
import { writeAnswer } from '../answer/stored.js';
import { unref } from '../background/every.js';
import type { Kit } from '../kit.js';
import { keyGivenTo, type Operation } from '../operation.js';
import { readBack } from '../reconcile/read-back.js';
import type { FencingToken, Limit } from '../store/store.js';
import { TOO_LATE, within } from './bounded.js';
import { conclude, type Conclusion } from './conclude.js';
import { isRepeatedRefusal } from './denials.js';
import { openHandle, type Handle } from './handle.js';
import type { FlowParts } from './parts.js';
import type { JournalScope } from './scope.js';
import { isUnmarked } from './settlement.js';
import { unsentFailure } from './thrown.js';
import { timesWithin } from './times.js';
import { codeOf, writeEnd } from './write-end.js';

function isRepeatMeant({ call, operation }: Work): boolean {
  return call.controls.allowDuplicate || operation.approval?.duplicate === true;
}

export interface Work {
  readonly call: AcceptedCall;
  readonly next: Next;
  readonly scope: JournalScope;
  readonly operation: Operation;
  /** Undefined for an `unknown` operation with an open step, which nobody owns. */
  readonly fencingToken: FencingToken | undefined;
  readonly limits: readonly Limit[];
  /** Which rule allowed it. */
  readonly rule?: string | undefined;
  /** Asked before the first thing that is sent in this life: which rule allows it now. It throws what ends the call. */
  readonly permit?: () => Promise<string | undefined>;
}

/** How an operation ended, for everybody who asked for it. */
export interface Ended {
  readonly operation: Operation;
  readonly answer: Settled;
  /** `all`: for whoever means the same act. `same`: only for the same arguments. `none`: for this caller alone. */
  readonly concerns: 'all' | 'same' | 'none';
  /** It is over for good, and repeats get this very answer. */
  readonly finished: boolean;
  /** It was ours when it ended. */
  readonly held?: boolean;
}

export interface CarriedOut {
  /** In time for the caller. */
  readonly answered: Promise<Settled>;
  /** The truth, however late. */
  readonly ended: Promise<Ended>;
  /** Resolves when the handler is given up: from then on the store knows more than this process. */
  readonly abandoned?: Promise<void>;
  /** It was carried out by an earlier call. */
  readonly isReplay?: true;
}

/** Runs the handler of an operation that is ours, and writes down how it ended. */
export function carryOut(parts: FlowParts, work: Work): CarriedOut {
  const { kit, absence } = parts;
  const { clock } = kit;
  const { call, scope, operation } = work;
  const { tool, args, correlationId } = call;
  const { id, account } = operation;
  const times = timesWithin(scope.deadline, clock.now());
  let sentAt = operation.sendingAt;
  const handle = openHandle({
    kit,
    times,
    tool,
    ...work,
    exclusive: keyGivenTo(operation) !== undefined && !isRepeatMeant(work),
    ...(tool.estimateCost && {
      cost: () => estimatedCost(tool, args, (cause) => kit.report(cause, correlationId)),
    }),
    // Its end may never be known. Until then nobody is to hear that what it undoes still stands.
    ...(tool.inverse && { releases: () => parts.undone(tool, account, args, 'repeatable') }),
    onSent: (at) => {
      sentAt ??= at;
    },
    provesAbsence: (rule, life) =>
      life === 'own'
        ? Promise.resolve(
            rule.authoritative &&
              (rule.actsWithinMs ?? 0) === 0 &&
              rule.confirmAfterMs === undefined,
          )
        : absence.proves(operation, rule),
  });
  let known: Settled | undefined;
  let lateTimer: unknown;
  let wasGivenUp = false;
  let abandon = (): void => undefined;
  const abandoned = new Promise<void>((resolve) => {
    abandon = resolve;
  });

  const look = async () => {
    const { reconcile } = tool;
    // The handler is at its end and can send no more, so only the upstream's own time counts.
    const proves =
      reconcile?.authoritative === true &&
      (reconcile.actsWithinMs ?? 0) === 0 &&
      reconcile.confirmAfterMs === undefined;
    const at = sentAt ?? clock.wallNow();
    return {
      ...(await readBack(kit, tool, { id, account, args, correlationId, sentAt: at })),
      proves,
    };
  };

  const end = async (): Promise<Ended> => {
    const settled = await handled(work, handle, times.handlerBy, kit);
    const isLate = clock.now() >= times.handlerBy || scope.signal.aborted;
    handle.revoke();
    const { effect } = operation;
    const reached = handle.end();
    if (isUnmarked({ settled, ...reached })) {
      const problem = 'failed after it may have sent something without calling operation.send';
      kit.report(new ContractViolation(tool.name, problem), correlationId);
    }
    const conclusion = await conclude({
      settled,
      effect,
      ...reached,
      tool,
      operationId: id,
      look,
    });
    const isRepeat =
      reached.sent === 'nothing' &&
      reached.stepsDone === 0 &&
      isRepeatedRefusal(kit, operation, conclusion.answer);
    known = isRepeat ? withoutOperation(conclusion.answer) : conclusion.answer;
    if (lateTimer !== undefined) clock.clearTimer(lateTimer);
    await writeEnd(parts, work, handle, conclusion, isRepeat);
    const { state, outcome } = conclusion;
    if (state === 'unknown' && !wasGivenUp) parts.noteUnknown(operation);
    if (state !== 'unknown' && wasGivenUp) parts.noteReconciled(operation, outcome, 'its own end');
    const finished = state === 'succeeded' || state === 'rejected';
    const held = handle.fencingToken() !== undefined;
    return { operation, answer: known, concerns: concernOf(conclusion, isLate), finished, held };
  };

  /** What can be said when the caller's time is over and the handler is not. */
  const early = (): Settled => {
    if (known) return known;
    const canSend = !handle.revoke();
    const { stepsDone } = handle.end();
    const { error } =
      canSend && operation.effect === 'once'
        ? unknownOutcome(id, outOfTime(tool, 'maybe').error.code, 'deadline')
        : outOfTime(tool, canSend ? 'maybe' : 'no');
    const isPart = !canSend && stepsDone > 0;
    const answer: Settled = { ok: false, error: isPart ? { ...error, outcome: undefined } : error };
    if (canSend) giveUpLater(withOperation(answer, id));
    return withOperation(answer, id);
  };

  /** A handler that never ends must not keep its operation between two states for ever. */
  const giveUpLater = (answer: Settled): void => {
    lateTimer = clock.setTimer(kit.times.lateMs, () => {
      const fencingToken = handle.fencingToken();
      if (!fencingToken) return;
      const state = operation.effect === 'once' ? 'unknown' : 'released';
      void parts.settler
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
          if (wasGivenUp) parts.noteUnknown(operation);
          abandon();
        });
    });
    unref(lateTimer);
  };

  const ended = end();
  parts.track(ended);
  const answered = within(clock, times.answerBy, ended).then((result) =>
    result === TOO_LATE ? early() : result.answer,
  );
  return { answered, ended, abandoned };
}

/**
 * Runs the handler, in automatic mode after the operation was recorded as sent. What stands between the
 * journal and the handler may throw, and then it is not known how far the handler came.
 */
async function handled(
  { next, call: { tool }, operation: { correlationId } }: Work,
  { operation, mark }: Pick<Handle, 'operation' | 'mark'>,
  deadline: number,
  { report }: Kit,
): Promise<Settled> {
  if (tool.send === 'automatic') {
    try {
      await mark();
    } catch (cause) {
      return unsentFailure(tool, cause);
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

function concernOf({ state }: Conclusion, isLate: boolean): Ended['concerns'] {
  if (state !== 'released' && state !== 'claimed') return 'all';
  return isLate ? 'none' : 'same';
}
