// The flow of a mutation, in the order of the files:
//   call.ts       coalesces equal calls of this process and claims the dedup key
//   preflight.ts  before the claim: account, dedup key, the tool's check
//   join.ts       another operation holds the key: await its owner, reconcile or replay it (replay.ts)
//   resume.ts     the claim is ours: a new operation, or one that an earlier run began
//   decide.ts     the policy: refuse, request approval, or execute
//   execute.ts    runs the handler; operation-handle.ts and steps.ts record each send before it happens
//   outcome.ts    decides from the handler's end whether the upstream acted
//   settle.ts     writes that to the store

import {
  isJournaled,
  type AcceptedCall,
  type DelegatingCall,
  type Next,
  type Schedule,
  type Settled,
} from '@toolkeel/contract';
import {
  contentConflict,
  inFlightHere,
  journalFailed,
  journalTimeout,
  refusal,
} from '../answer/errors.js';
import { encryptArguments } from '../answer/arguments.js';
import type { JournalContext } from '../context.js';
import { splitDeadline, TOO_LATE, withDeadline } from '../deadline.js';
import type { CallDedupKey } from '../dedup-key/dedup-key.js';
import { JournalError } from '../error.js';
import { keyGivenTo, scopedDedupKey, type Operation } from '../operation.js';
import type { ClaimResult } from '../store/store.js';
import type { Moment } from './deliveries.js';
import { endedExecution, type Execution, type ExecutionResult } from './execute.js';
import { joinInFlight, type WaitBudget } from './join.js';
import {
  answerFromCheck,
  dedupKeyOf,
  formerlyHeld,
  resolveAccount,
  withRequestedControls,
} from './preflight.js';
import { idempotencyMeta, isFinished, replay, replayWarning } from './replay.js';
import { resume } from './resume.js';

/** The runtime context of one call, as far as the journal needs it. The host's call context fits. */
export interface CallContext {
  /** The `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** On the journal's clock; Infinity for none. */
  readonly deadline: number;
  /** Executes the call at that time instead of now. Never from a client's request. */
  readonly schedule?: Schedule | undefined;
  /** Calls of tools that act through this one. Never from a client's request. */
  readonly onBehalfOf?: readonly DelegatingCall[] | undefined;
  /** From now on a client that disconnects does not abort the call. */
  hold(): void;
  /**
   * Registers a callback for when this call's answer has reached the client: written completely, without
   * a transport error, and not cancelled. Without this method no answer counts as delivered.
   */
  onDelivered?(delivered: () => void): void;
  /**
   * Makes a claim, for a caller that tells an equal, separate call from a repeat: `claim` takes the ids of
   * the operations that the call is separate from. Claims of equal calls must not overlap. Never from a
   * client's request. Without this method equal calls are repeats.
   */
  claimBesides?<T extends { readonly operation: { readonly id: string } }>(
    claim: (besides: readonly string[]) => Promise<T>,
  ): Promise<T>;
}

/** For a call without a host: no deadline, and the answer is delivered when it is returned. */
const defaultCallContext = (): CallContext => ({
  meta: {},
  signal: new AbortController().signal,
  deadline: Number.POSITIVE_INFINITY,
  hold: () => undefined,
  onDelivered: (delivered) => delivered(),
});

/** The middleware around a tool's handler. */
export type JournalMiddleware = (
  call: AcceptedCall,
  next: Next,
  callContext?: CallContext,
) => Promise<Settled>;

/** A mutation with its dedup key, before the claim. */
export interface CallRequest extends CallDedupKey {
  readonly call: AcceptedCall;
  readonly next: Next;
  readonly callContext: CallContext;
  /** The upstream's own id of the account. */
  readonly account: string;
  readonly began: Moment;
  /** When the caller must have its answer, on the journal's clock. */
  readonly answerBy: number;
}

/** A call of this process that runs as leader for its dedup key, or for its operation. */
interface Leader {
  readonly argsHash: string;
  readonly key: string | undefined;
  /** Undefined if the leader was given up. */
  readonly ended: Promise<ExecutionResult | undefined>;
  /** Undefined before the claim. */
  readonly operation: () => Operation | undefined;
}

/** Other operations can end without a result again and again while a caller waits. */
const MAX_ROUNDS = 50;
const RETRY_SOON_MS = 1000;

/**
 * Makes every mutation act at most once. A call is coalesced with an equal call of this process, or it
 * runs as leader: it claims the dedup key, then executes its operation, or joins or replays the
 * operation that holds the key.
 */
export function createMiddleware(context: JournalContext): JournalMiddleware {
  const { clock, deliveries } = context;
  const leaders = new Map<string, Leader>();

  const addLeader = (scopedKey: string, leader: Leader): void => {
    leaders.set(scopedKey, leader);
    const remove = (): void => {
      if (leaders.get(scopedKey) === leader) leaders.delete(scopedKey);
    };
    leader.ended.then(remove, remove);
  };

  /** Claims until this call owns an operation, or another operation answers it. */
  const claimOrJoin = async (
    request: CallRequest,
    onOperation: (operation: Operation, isMine: boolean) => void,
  ): Promise<Execution> => {
    const until = Math.min(clock.now() + context.times.waitMs, request.answerBy);
    const budget: WaitBudget = { until, ranApproved: false };
    for (let round = 0; ; round += 1) {
      const { kind, operation } = await claim(context, request);
      if (kind === 'conflict') {
        const { began, answerBy } = request;
        const isStale =
          round < MAX_ROUNDS && (await deliveries.wasDelivered(operation, began, answerBy));
        if (isStale) continue;
        const answer = refusal(contentConflict(operation), operation.id);
        return endedExecution(operation, answer, 'none');
      }
      onOperation(operation, kind === 'mine');
      const leader = kind === 'held' ? leaders.get(operation.id) : undefined;
      if (leader) {
        const result = await leader.ended.catch(() => undefined);
        if (!result || result.sharedWith === 'none') continue;
        const ended = Promise.resolve(result);
        return { ended, answered: Promise.resolve(result.answer), isReplay: true };
      }
      if (kind === 'mine') {
        const { id, fence, owner = '' } = operation;
        return resume(context, operation, { id, owner, fence }, request);
      }
      const joined = await joinInFlight(context, request, operation, budget);
      if (joined !== 'claim_again') return joined;
      // A caller that waited for an operation gets its result, even if the dedup key has a new holder.
      const awaited = await context.store.get(operation.id);
      if (awaited?.outcome === 'executed' && isFinished(awaited)) return replay(awaited);
      if (round >= MAX_ROUNDS) {
        return endedExecution(operation, inFlightHere(operation, RETRY_SOON_MS), 'none');
      }
    }
  };

  const answerRepeat = (
    { operation, answer, isFinal }: ExecutionResult,
    request: CallRequest,
  ): Settled => {
    if (!isFinal) return answer;
    const { correlationId } = request.call;
    context.emit('idempotent_replay', operation, { correlationId });
    deliveries.expect(request.callContext, operation, answer);
    const warning = replayWarning(operation, request, clock.wallNow());
    const idempotency = idempotencyMeta(operation, true, request);
    return { ...answer, idempotency: { ...idempotency, ...(warning && { warning }) } };
  };

  /** `scopedKey`: undefined for a call that is not coalesced. */
  const runAsLeader = async (
    request: CallRequest,
    scopedKey: string | undefined,
  ): Promise<Settled> => {
    let operation: Operation | undefined;
    const lead = (name: string): void => {
      const ended = executing.then(({ ended: end, abandoned }) =>
        abandoned ? Promise.race([end, abandoned.then(() => undefined)]) : end,
      );
      const { argsHash } = request;
      const key = keyGivenTo(request);
      addLeader(name, { argsHash, key, ended, operation: () => operation });
    };
    const executing = claimOrJoin(request, (claimed, isMine) => {
      operation = claimed;
      // Equal calls are not coalesced before their claims, which tell repeats from separate calls.
      if (isMine && request.callContext.claimBesides) lead(claimed.id);
    });
    if (scopedKey !== undefined) lead(scopedKey);
    const reportFailure = (cause: unknown): void => {
      context.orphanedClaims.suspect();
      context.report(cause, request.call.correlationId);
    };
    let answer;
    try {
      const execution = await withDeadline(clock, request.answerBy, executing);
      if (execution === TOO_LATE) {
        executing.catch(reportFailure);
        return operation ? inFlightHere(operation, RETRY_SOON_MS) : journalTimeout();
      }
      if (execution.isReplay) return answerRepeat(await execution.ended, request);
      answer = await execution.answered;
      if (operation) deliveries.expect(request.callContext, operation, answer);
    } catch (cause) {
      reportFailure(cause);
      return journalFailed(operation, cause);
    }
    const isNamed = keyGivenTo(request) !== undefined || isJournaled(request.call.tool);
    if (!isNamed || !operation || !answer.ok) return answer;
    return { ...answer, idempotency: idempotencyMeta(operation, false, request) };
  };

  /** Joins the leader of the same act in this process, or runs as leader. */
  const coalesce = async (request: CallRequest): Promise<Settled> => {
    const { call, account, dedupKey, argsHash, answerBy } = request;
    const key = keyGivenTo(request);
    const scopedKey = scopedDedupKey(account, call.tool.name, dedupKey);
    // An intended repeat is a new act, unless an idempotency key identifies it.
    const isIntended = call.controls.allowDuplicate && dedupKey.by !== 'key';
    if (isIntended || request.callContext.claimBesides) return runAsLeader(request, undefined);
    for (;;) {
      const leader = leaders.get(scopedKey);
      if (!leader) return runAsLeader(request, scopedKey);
      // Only the store can tell whether another key or other arguments are a conflict.
      const differs = key !== undefined && (leader.key !== key || leader.argsHash !== argsHash);
      if (differs) return runAsLeader(request, undefined);
      const ended = leader.ended.catch(() => undefined);
      const result = await withDeadline(clock, answerBy, ended);
      if (result === TOO_LATE) return inFlightHere(leader.operation(), RETRY_SOON_MS);
      const isShared =
        result?.sharedWith === 'act' ||
        (result?.sharedWith === 'arguments' && leader.argsHash === argsHash);
      if (result && isShared) return answerRepeat(result, request);
    }
  };

  return async (call, next, callContext = defaultCallContext()) => {
    if (!call.tool.mutation) return next();
    const began = deliveries.moment();
    const { answerBy } = splitDeadline(callContext.deadline, clock.now());
    const account = await resolveAccount(context, call, answerBy);
    if (typeof account !== 'string') return account;
    const keys = dedupKeyOf(context, call, account, callContext.meta);
    if ('ok' in keys) return keys;
    const former = await formerlyHeld(context, call, account, callContext, answerBy);
    if (former && 'ok' in former) return former;
    const named = former ?? { ...keys, account };
    const request: CallRequest = {
      ...named,
      call: withRequestedControls(call, keys),
      next,
      callContext,
      began,
      answerBy,
    };
    const hasLeader = (): boolean =>
      leaders.has(scopedDedupKey(named.account, call.tool.name, named.dedupKey));
    return (await answerFromCheck(context, request, hasLeader)) ?? coalesce(request);
  };
}

/** Claims the dedup key of a call, or returns the operation that holds it. */
async function claim(context: JournalContext, request: CallRequest): Promise<ClaimResult> {
  const { store, encryption, ownerLease } = context;
  const { call, account, dedupKey, argsHash, key } = request;
  const { tool, args, controls, correlationId } = call;
  const id = context.newId();
  // The policy may require approval later, and pending arguments must never be on disk in clear.
  const mayNeedApproval = context.decide !== undefined && store.kind !== 'memory';
  const isClear = tool.sensitive.length === 0 && !mayNeedApproval;
  const claimAs = (owner: string, besides?: readonly string[]): Promise<ClaimResult> =>
    store.claim({
      id,
      owner,
      account,
      tool: tool.name,
      effect: tool.effect === 'once' ? 'once' : 'idempotent',
      dedupKey,
      ...(key !== undefined && { key }),
      argsHash,
      content: argsHash,
      keyHoldMs: context.times.retentionMs,
      args: isClear ? JSON.stringify(args) : encryptArguments(encryption, id, args),
      correlationId,
      allowDuplicate: controls.allowDuplicate,
      ...(besides && { besides }),
    });
  const claimOnce = async (besides?: readonly string[]): Promise<ClaimResult> => {
    const owner = await ownerLease.current();
    try {
      return await claimAs(owner, besides);
    } catch (cause) {
      // This process was suspended for longer than its lease; it registers again and claims.
      if (!(cause instanceof JournalError && cause.reason === 'lapsed')) throw cause;
      ownerLease.lapsed(owner);
      return claimAs(await ownerLease.current(), besides);
    }
  };
  const { callContext } = request;
  return callContext.claimBesides ? callContext.claimBesides(claimOnce) : claimOnce();
}
