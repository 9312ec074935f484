import {
  ContractViolation,
  raise,
  withSendToken,
  type Others,
  type StepReadBack,
  type Tool,
  type ToolOperation,
} from '@toolkeel/contract';
import { limited, unsettledTwin } from '../answer/refusals.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import { othersAt, othersIn } from '../reconcile/others.js';
import type { FencingToken, Limit, SendRequest, SendResult } from '../store/store.js';
import { TOO_LATE, within } from './bounded.js';
import type { JournalScope } from './scope.js';
import type { RunEnd } from './settlement.js';
import { steps, type Steps, type StepsDeps } from './steps.js';
import { outcomeOfThrown, refuse } from './thrown.js';
import type { Times } from './times.js';

/** An operation in the hands of a handler. */
export interface Handle {
  readonly operation: ToolOperation;
  /** Automatic mode: records that it is being sent. Throws what ends the call, and then nothing was. */
  readonly mark: () => Promise<void>;
  /** From now on nothing more is sent. False: something is on its way already. */
  readonly revoke: () => boolean;
  readonly end: () => Pick<RunEnd, 'sent' | 'stepsDone' | 'stepOpen'>;
  /** Undefined while nobody took the operation over from its former owner. */
  readonly fencingToken: () => FencingToken | undefined;
  /** What has to be written before the end of the operation can be. */
  readonly unwritten: Steps['unwritten'];
}

export interface HandleDeps {
  readonly kit: Pick<Kit, 'store' | 'encryption' | 'clock' | 'tenure' | 'report' | 'suspect'>;
  readonly operation: Operation;
  readonly tool: Pick<Tool, 'name' | 'effect' | 'send' | 'step'>;
  /** Undefined for an `unknown` operation: it is taken over once its open step is cleared up. */
  readonly fencingToken: FencingToken | undefined;
  readonly limits: readonly Limit[];
  /** Asked at the first send. */
  readonly cost?: (() => SendRequest['cost']) | undefined;
  /** Asked at the first send: what can be done again from then on, because this may undo it. */
  readonly releases?: (() => Promise<readonly string[]>) | undefined;
  readonly scope: JournalScope;
  readonly times: Times;
  readonly provesAbsence: StepsDeps['provesAbsence'];
  /** It has an explicit key, and no repeat is meant. */
  readonly exclusive: boolean;
  readonly rule?: string | undefined;
  readonly permit?: (() => Promise<string | undefined>) | undefined;
  /** On the store's clock. */
  readonly onSent: (at: number) => void;
}

export function openHandle(deps: HandleDeps): Handle {
  const { kit, operation, scope, times } = deps;
  const { store, clock, tenure } = kit;
  let fencingToken = deps.fencingToken;
  let revoked = false;
  let sent = false;
  let { limits, rule, permit, cost, releases } = deps;

  const report = (cause: unknown): void => kit.report(cause, operation.correlationId);

  const takeHold = async (): Promise<FencingToken | undefined> => {
    if (fencingToken) return fencingToken;
    const owner = await tenure.current();
    const taken = await takeOver(owner);
    if (taken) fencingToken = { id: operation.id, owner, fence: taken.fence };
    return fencingToken;
  };

  const takeOver = async (owner: string): Promise<Operation | undefined> => {
    try {
      return await store.takeOver(operation.id, owner, operation.fence);
    } catch (cause) {
      kit.suspect();
      throw cause;
    }
  };

  const refuseWhenOver = (): void => {
    if (revoked || clock.now() >= times.answerBy) refuse.outOfTime();
    if (scope.signal.aborted) refuse.cancelled(scope.signal.reason);
  };

  const send = async (step?: string): Promise<SendResult & { readonly fence: number }> => {
    try {
      const hold = await takeHold();
      if (!hold) return { kind: 'lost', fence: 0 };
      const estimate = cost?.();
      const freed = (await releases?.()) ?? [];
      const request = {
        limits,
        ...(rule !== undefined && { rule }),
        ...(step !== undefined && { step }),
        ...(estimate && { cost: estimate }),
        ...(freed.length > 0 && { releases: freed }),
        ...(deps.exclusive && { exclusive: true }),
      };
      return { ...(await store.send(hold, request)), fence: hold.fence };
    } catch (cause) {
      report(cause);
      if (step !== undefined) flow.unheard(step);
      return refuse.journalDown('not_executed', cause);
    }
  };

  /**
   * The durable step to `sending`. What it gives may be used until somebody revokes it. A further
   * attempt asks again: by then the operation may not be ours any more.
   */
  const ask = async (step?: string): Promise<{ readonly at: number; readonly fence: number }> => {
    if (permit) rule = await permit();
    const answer = await send(step);
    if (answer.kind === 'lost') return refuse.lost();
    if (answer.kind === 'limited') return raise(limited(answer.limit, answer.retryAfterMs));
    if (answer.kind === 'conflict') return raise(unsettledTwin(answer.operation));
    // An operation is permitted and counts once, however many parts and attempts it is sent in.
    permit = undefined;
    cost = undefined;
    releases = undefined;
    limits = [];
    deps.onSent(answer.at);
    return { at: answer.at, fence: answer.fence };
  };

  const flow = steps({
    operation,
    store,
    report,
    result: deps.tool.step,
    fencingToken: takeHold,
    provesAbsence: deps.provesAbsence,
    readBack: async <T>({ readBack }: StepReadBack<T>, sentAt: number) => {
      try {
        const others: Others = (tools) => othersAt(kit, operation, sentAt, tools);
        const found = await within(clock, times.answerBy, readBack({ sentAt, others }));
        return found === TOO_LATE ? { found: 'unknown' } : found;
      } catch (cause) {
        report(cause);
        return { found: 'unknown' };
      }
    },
  });

  const markStep = async (at: NonNullable<ReturnType<Steps['current']>>): Promise<number> => {
    const { at: grantedAt, fence } = await ask(at.name);
    at.grantedAt = grantedAt;
    refuseWhenOver();
    at.sent = true;
    scope.hold();
    return fence;
  };

  const markAll = async (): Promise<number> => {
    const { fence } = await ask();
    refuseWhenOver();
    sent = true;
    scope.hold();
    return fence;
  };

  const mark = async (): Promise<number> => {
    refuseWhenOver();
    const open = flow.open();
    if (open !== undefined) return refuse.unresolved(open);
    if (flow.unwritten()) return refuse.unwritten();
    const at = flow.current();
    return at ? markStep(at) : markAll();
  };

  /** What is known of the write that was sent last, by step; the empty name is the operation itself. */
  const writes = new Map<string, 'running' | 'not_executed' | 'sent'>();
  let marking: Promise<unknown> | undefined;
  let automaticFence: number | undefined;

  const sendOnce: ToolOperation['send'] = async (write, { signal } = {}) => {
    // An attempt that was given up while its mark was written sends nothing: its turn comes first.
    for (let pending = marking; pending; pending = marking) await pending;
    const name = flow.current()?.name ?? '';
    const before = writes.get(name);
    if (operation.effect === 'once' && (before === 'running' || before === 'sent')) {
      report(new ContractViolation(deps.tool.name, 'called operation.send again after a write'));
      return refuse.sentAlready();
    }
    let fence = automaticFence;
    if (fence === undefined) {
      const granted = mark();
      marking = granted.catch(() => undefined).finally(() => (marking = undefined));
      fence = await granted;
    }
    if (signal?.aborted) refuse.cancelled(signal.reason);
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

  // A handler that ends while its step still runs has left it alone.
  const isStepOpen = (): boolean => flow.open() !== undefined || flow.current()?.sent === true;

  return {
    operation: {
      id: operation.id,
      account: operation.account,
      send: sendOnce,
      step: deps.tool.send === 'explicit' ? flow.step : () => refuse.needsExplicit(),
      others: (tools) => othersIn(kit, operation, operation.createdAt, { tools }),
    },
    mark: async () => {
      automaticFence = await mark();
    },
    revoke: () => {
      revoked = true;
      return !sent && !isStepOpen();
    },
    end: () => ({
      sent: sent ? 'operation' : flow.wasRefused() ? 'step' : 'nothing',
      stepsDone: flow.doneCount(),
      stepOpen: isStepOpen(),
    }),
    fencingToken: () => fencingToken,
    unwritten: flow.unwritten,
  };
}
