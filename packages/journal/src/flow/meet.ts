import { conflict, inFlight } from '../answer/refusals.js';
import { keyGivenTo, type Operation } from '../operation.js';
import type { FencingToken } from '../store/store.js';
import { over } from './begin.js';
import { signalUntil, TOO_LATE, within } from './bounded.js';
import type { CarriedOut } from './carry-out.js';
import type { FlowParts } from './parts.js';
import { replayOf } from './replay.js';
import type { Request } from './request.js';
import { timesWithin } from './times.js';

/** What a caller does not try for ever, however often it comes back to the slot. */
export interface Patience {
  /** Until when it waits for somebody else. */
  readonly until: number;
  /** The last life of an operation that it looked for. Whoever comes after that one may die as well. */
  lookedFor?: string;
  asked: boolean;
}

export interface MeetDeps {
  readonly parts: FlowParts;
  /** Tries to settle an operation of which nobody knows the end, by looking. */
  readonly reconcile: (operation: Operation, request: Request) => Promise<unknown>;
  /** Carries out what a person has approved, now and not at the next turn. */
  readonly runApproved: () => Promise<void>;
  /** Goes on with an operation that was begun before. */
  readonly goOn: (
    operation: Operation,
    fencingToken: FencingToken | undefined,
    request: Request,
  ) => Promise<CarriedOut>;
}

/** Somebody else's operation holds the slot: what a caller gets of it, or that it should look again. */
export async function meet(
  deps: MeetDeps,
  request: Request,
  operation: Operation,
  patience: Patience,
): Promise<CarriedOut | 'again'> {
  const { parts } = deps;
  if (isUnderItsKey(request, operation) && operation.argsHash !== request.argsHash) {
    return over(operation, conflict(operation), 'none');
  }
  switch (operation.state) {
    case 'claimed':
    case 'sending':
      return (await outlast(parts, operation, patience)) ?? 'again';
    case 'unknown':
      return clearUp(deps, request, operation, patience);
    case 'awaiting_approval':
      if (operation.approval?.decision !== 'approved') break;
      if (patience.asked) return over(operation, inFlight(operation, APPROVED), 'none');
      patience.asked = true;
      await deps.runApproved();
      return 'again';
    case 'released':
      return 'again';
    default:
  }
  if (isFinished(operation)) return replayed(operation);
  return over(operation, replayOf(operation), 'all');
}

/** It is met because of the caller's key, which stands for one set of arguments. */
function isUnderItsKey(request: Request, operation: Operation): boolean {
  const key = keyGivenTo(request);
  return key !== undefined && key === keyGivenTo(operation);
}

const APPROVED = { state: 'approved', retryAfterMs: 5000 } as const;
const BUSY_MS = 2000;

/** How often somebody who waits looks whether the other one still lives. */
const ROUND_MS = 1000;

/** Waits until nobody is at work on it; an answer when the caller's time is over before. */
async function outlast(
  { kit, evictOwner }: FlowParts,
  operation: Operation,
  { until }: Patience,
): Promise<CarriedOut | undefined> {
  let last = operation;
  for (;;) {
    if (await evictOwner(last)) return undefined;
    const { signal, done } = signalUntil(kit.clock, Math.min(until, kit.clock.now() + ROUND_MS));
    const seen = await kit.store.wait(operation.id, signal).finally(done);
    if (!seen || !isBusy(seen)) return undefined;
    last = seen;
    if (kit.clock.now() >= until) break;
  }
  return over(last, inFlight(last, { state: last.state, retryAfterMs: BUSY_MS }), 'none');
}

function isBusy({ state, owner }: Operation): boolean {
  return owner !== undefined && (state === 'claimed' || state === 'sending');
}

/** Nobody knows how it ended. Whoever asks again may find out, and does not send it again. */
async function clearUp(
  { parts, goOn, reconcile }: MeetDeps,
  request: Request,
  operation: Operation,
  patience: Patience,
): Promise<CarriedOut | 'again'> {
  if (operation.steps.some(({ state }) => state === 'sending')) {
    const carried = await goOn(operation, undefined, request);
    return (await afterTheOther(parts, request, operation, carried, patience)) ?? carried;
  }
  const life = `${operation.id} ${operation.fence}`;
  if (patience.lookedFor !== life) {
    patience.lookedFor = life;
    const { clock } = parts.kit;
    // A look may take longer than the caller has, and then it still has to be told what is known.
    const { handlerBy } = timesWithin(request.scope.deadline, clock.now());
    await within(clock, handlerBy, reconcile(operation, request));
    // Whoever looked at the same time may have written it down before us.
    return 'again';
  }
  return over(operation, replayOf(operation), 'all');
}

/**
 * Several may clear up an open step at the same time, and one of them goes on. What comes of that is for
 * the others, too: undefined where we were the one, or where nobody is.
 */
async function afterTheOther(
  parts: FlowParts,
  { answerBy }: Request,
  { id, fence }: Operation,
  { ended }: CarriedOut,
  patience: Patience,
): Promise<CarriedOut | undefined> {
  const { clock, store } = parts.kit;
  const mine = await within(clock, answerBy, ended);
  if (mine === TOO_LATE || mine.answer.ok || mine.held) return undefined;
  const taken = await store.get(id);
  if (!taken || taken.fence === fence) return undefined;
  const busy = await outlast(parts, taken, patience);
  if (busy) return busy;
  const left = (await store.get(id)) ?? taken;
  if (!isFinished(left))
    return over(left, inFlight(left, { state: left.state, retryAfterMs: 0 }), 'none');
  return replayed(left);
}

/** The stored result, for everybody who means the same act. */
export function replayed(operation: Operation): CarriedOut {
  return { ...over(operation, replayOf(operation), 'all', true), isReplay: true };
}

export function isFinished({ state }: Operation): boolean {
  return state === 'succeeded' || state === 'rejected' || state === 'reconciled';
}
