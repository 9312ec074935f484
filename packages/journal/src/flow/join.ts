import { inFlight, keyConflict, waitsForTime } from '../answer/errors.js';
import type { JournalContext } from '../context.js';
import { signalUntil, splitDeadline, TOO_LATE, withDeadline } from '../deadline.js';
import { keyGivenTo, type Operation } from '../operation.js';
import { reconcileUnknown } from '../reconcile/reconcile.js';
import type { CallRequest } from './call.js';
import { endedExecution, type Execution } from './execute.js';
import { isFinished, replay, replayedAnswer } from './replay.js';
import { resume } from './resume.js';

/** Limits what one caller does while it waits, over all its claims. */
export interface WaitBudget {
  /** Until when it waits for another process. */
  readonly until: number;
  /** The last run that it tried to reconcile; a later run of the operation may become unknown as well. */
  reconciledRun?: string;
  ranApproved: boolean;
}

const APPROVED = { state: 'approved', retryAfterMs: 5000 } as const;
const BUSY_RETRY_MS = 2000;
/** How often a waiting caller checks that the owner process is alive. */
const LIVENESS_CHECK_MS = 1000;

/**
 * Answers a call from the operation that holds its dedup key: waits for its owner, reconciles an unknown
 * one, or replays a finished one. `claim_again`: the dedup key may be free now.
 */
export async function joinInFlight(
  context: JournalContext,
  request: CallRequest,
  operation: Operation,
  budget: WaitBudget,
): Promise<Execution | 'claim_again'> {
  const key = keyGivenTo(request);
  const isSameKey = key !== undefined && key === keyGivenTo(operation);
  if (isSameKey && operation.argsHash !== request.argsHash) {
    return endedExecution(operation, keyConflict(operation), 'none');
  }
  switch (operation.state) {
    case 'claimed':
    case 'sending':
      return (await awaitOwner(context, operation, budget)) ?? 'claim_again';
    case 'unknown':
      return joinUnknown(context, request, operation, budget);
    case 'awaiting_approval':
      if (operation.approval?.decision !== 'approved') break;
      if ((operation.approval.scheduledFor ?? 0) > context.clock.wallNow()) {
        return endedExecution(operation, waitsForTime(context, operation), 'act');
      }
      if (budget.ranApproved)
        return endedExecution(operation, inFlight(operation, APPROVED), 'none');
      budget.ranApproved = true;
      await context.runApproved();
      return 'claim_again';
    case 'released':
      return 'claim_again';
    default:
  }
  if (isFinished(operation)) return replay(operation);
  return endedExecution(operation, replayedAnswer(operation), 'act');
}

/** Waits until no process works on the operation. Returns an answer if the wait budget is used up first. */
async function awaitOwner(
  { clock, store, evictOwner }: JournalContext,
  operation: Operation,
  { until }: WaitBudget,
): Promise<Execution | undefined> {
  let last = operation;
  for (;;) {
    if (await evictOwner(last)) return undefined;
    const { signal, done } = signalUntil(clock, Math.min(until, clock.now() + LIVENESS_CHECK_MS));
    const seen = await store.wait(operation.id, signal).finally(done);
    if (!seen || !isOwned(seen)) return undefined;
    last = seen;
    if (clock.now() >= until) break;
  }
  const answer = inFlight(last, { state: last.state, retryAfterMs: BUSY_RETRY_MS });
  return endedExecution(last, answer, 'none');
}

function isOwned({ state, owner }: Operation): boolean {
  return owner !== undefined && (state === 'claimed' || state === 'sending');
}

/** Reconciles an unknown operation, or resumes it if a step is open. It is never sent again. */
async function joinUnknown(
  context: JournalContext,
  request: CallRequest,
  operation: Operation,
  budget: WaitBudget,
): Promise<Execution | 'claim_again'> {
  if (operation.steps.some(({ state }) => state === 'sending')) {
    const execution = await resume(context, operation, undefined, request);
    return (
      (await joinResumedElsewhere(context, request, operation, execution, budget)) ?? execution
    );
  }
  const run = `${operation.id} ${operation.fence}`;
  if (budget.reconciledRun === run) {
    return endedExecution(operation, replayedAnswer(operation), 'act');
  }
  budget.reconciledRun = run;
  const { clock } = context;
  // A read-back may take longer than the caller's deadline, and the caller needs an answer then.
  const { handlerBy } = splitDeadline(request.callContext.deadline, clock.now());
  const reconciling = reconcileUnknown(context, request.call.tool, operation);
  await withDeadline(clock, handlerBy, reconciling);
  // Also if nothing was settled: another process may have reconciled it at the same time.
  return 'claim_again';
}

/**
 * Several callers may read back an open step at once, but only one resumes the operation. The others
 * wait for that one. Undefined: this caller resumed it, or no one did.
 */
async function joinResumedElsewhere(
  context: JournalContext,
  { answerBy }: CallRequest,
  { id, fence }: Operation,
  { ended }: Execution,
  budget: WaitBudget,
): Promise<Execution | undefined> {
  const { clock, store } = context;
  const own = await withDeadline(clock, answerBy, ended);
  if (own === TOO_LATE || own.answer.ok || own.wasOwned) return undefined;
  const resumed = await store.get(id);
  if (!resumed || resumed.fence === fence) return undefined;
  const busy = await awaitOwner(context, resumed, budget);
  if (busy) return busy;
  const last = (await store.get(id)) ?? resumed;
  if (isFinished(last)) return replay(last);
  return endedExecution(last, inFlight(last, { state: last.state, retryAfterMs: 0 }), 'none');
}
