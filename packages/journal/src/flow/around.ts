import { isJournaled, type AcceptedCall, type Next, type Settled } from '@toolkeel/contract';
import {
  journalFailed,
  journalSilent,
  refusal,
  underWay,
  unsettledTwin,
} from '../answer/refusals.js';
import { keyGivenTo, type Operation } from '../operation.js';
import { scopedDedupKey } from '../slot.js';
import { accountFor, identify } from './account.js';
import { asAsked } from './as-asked.js';
import { over } from './begin.js';
import { TOO_LATE, within } from './bounded.js';
import type { CarriedOut, Ended } from './carry-out.js';
import { checkFirst } from './check-first.js';
import { isFinished, meet, replayed, type MeetDeps, type Patience } from './meet.js';
import { idempotencyMeta, replayWarning } from './replay.js';
import { claimFor, type Request } from './request.js';
import { noScope, type JournalScope } from './scope.js';
import { follow, sharing } from './share.js';
import { timesWithin } from './times.js';

/** What stands around a handler. The host's scope fits; without one a call has no end of its own. */
export type JournalMiddleware = (
  call: AcceptedCall,
  next: Next,
  scope?: JournalScope,
) => Promise<Settled>;

/** Operations that end without a result, just when somebody asks for them, can follow each other. */
const MAX_ROUNDS = 50;
const SOON_MS = 1000;

export function journalMiddleware(deps: MeetDeps): JournalMiddleware {
  const { kit } = deps.parts;
  const { wasDelivered } = kit.deliveries;
  const acts = sharing();

  /** Until the operation is ours and has begun, or somebody else's has something to say. */
  const pursue = async (
    request: Request,
    note: (operation: Operation) => void,
  ): Promise<CarriedOut> => {
    const until = Math.min(kit.clock.now() + kit.times.waitMs, request.answerBy);
    const patience: Patience = { until, asked: false };
    for (let round = 0; ; round += 1) {
      const { kind, operation } = await claimFor(kit, request);
      if (kind === 'conflict') {
        const { began, answerBy } = request;
        const isOld = round < MAX_ROUNDS && (await wasDelivered(operation, began, answerBy));
        if (isOld) continue;
        return over(operation, refusal(unsettledTwin(operation), operation.id), 'none');
      }
      note(operation);
      if (kind === 'mine') {
        const { id, fence, owner = '' } = operation;
        return deps.goOn(operation, { id, owner, fence }, request);
      }
      const met = await meet(deps, request, operation, patience);
      if (met !== 'again') return met;
      // Whoever waited for an operation gets its result, however long that was and whatever holds it now.
      const left = await kit.store.get(operation.id);
      if (left?.outcome === 'executed' && isFinished(left)) return replayed(left);
      if (round >= MAX_ROUNDS) return over(operation, underWay(operation, SOON_MS), 'none');
    }
  };

  const answerAgain = ({ operation, answer, finished }: Ended, request: Request): Settled => {
    if (!finished) return answer;
    const { id, tool, account } = operation;
    const { correlationId } = request.call;
    kit.observe({ type: 'idempotent_replay', operationId: id, tool, account, correlationId });
    kit.deliveries.expect(request.scope, operation, answer);
    const warning = replayWarning(operation, request, kit.clock.wallNow());
    const idempotency = idempotencyMeta(operation, true, request);
    return { ...answer, idempotency: { ...idempotency, ...(warning && { warning }) } };
  };

  const lead = async (request: Request, scopedKey: string | undefined): Promise<Settled> => {
    let operation: Operation | undefined;
    const carried = pursue(request, (noted) => {
      operation = noted;
    });
    if (scopedKey !== undefined) {
      const ended = carried.then(({ ended: end, abandoned }) =>
        abandoned ? Promise.race([end, abandoned.then(() => undefined)]) : end,
      );
      const { argsHash } = request;
      acts.begin(scopedKey, {
        argsHash,
        key: keyGivenTo(request),
        ended,
        operation: () => operation,
      });
    }
    const failed = (cause: unknown): void => {
      kit.suspect();
      kit.report(cause, request.call.correlationId);
    };
    let answer;
    try {
      const reached = await within(kit.clock, request.answerBy, carried);
      if (reached === TOO_LATE) {
        carried.catch(failed);
        return operation ? underWay(operation, SOON_MS) : journalSilent();
      }
      const { answered, ended, isReplay } = reached;
      if (isReplay) return answerAgain(await ended, request);
      answer = await answered;
      if (operation) kit.deliveries.expect(request.scope, operation, answer);
    } catch (cause) {
      failed(cause);
      return journalFailed(operation, cause);
    }
    const isNamed = keyGivenTo(request) !== undefined || isJournaled(request.call.tool);
    if (!isNamed || !operation || !answer.ok) return answer;
    return { ...answer, idempotency: idempotencyMeta(operation, false, request) };
  };

  const attend = async (request: Request): Promise<Settled> => {
    const { call, account, dedupKey, argsHash, answerBy } = request;
    const key = keyGivenTo(request);
    const scopedKey = scopedDedupKey(account, call.tool.name, dedupKey);
    // A repeat that is meant shares nothing; where only a key names the act there is no such thing.
    if (call.controls.allowDuplicate && dedupKey.by !== 'key') return lead(request, undefined);
    for (;;) {
      const shared = acts.find(scopedKey);
      if (!shared) return lead(request, scopedKey);
      // Whether its key stands for something else, only the store can say.
      const isAnother = key !== undefined && (shared.key !== key || shared.argsHash !== argsHash);
      if (isAnother) return lead(request, undefined);
      const followed = await follow(kit.clock, shared, { argsHash, until: answerBy });
      if (followed.kind === 'ended') return answerAgain(followed.ended, request);
      if (followed.kind === 'late') return underWay(shared.operation(), SOON_MS);
    }
  };

  return async (call, next, scope = noScope()) => {
    if (!call.tool.mutation) return next();
    const began = kit.deliveries.moment();
    const { answerBy } = timesWithin(scope.deadline, kit.clock.now());
    const account = await accountFor(deps.parts, call, answerBy);
    if (typeof account !== 'string') return account;
    const who = identify(kit, call, account, scope.meta);
    if ('ok' in who) return who;
    const request = { ...who, account, call: asAsked(call, who), next, scope, began, answerBy };
    const scopedKey = (): string => scopedDedupKey(account, call.tool.name, who.dedupKey);
    const isUnderWay = (): boolean => acts.has(scopedKey());
    return (await checkFirst(deps.parts, request, isUnderWay)) ?? attend(request);
  };
}
