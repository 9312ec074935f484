import type { Absence, StepReadBack, Tool, ToolOperation } from '@toolkeel/contract';
import { outcomeOfThrown } from '../answer/answer.js';
import { refuseSend } from '../answer/errors.js';
import type { Operation, Step } from '../operation.js';
import type { FencingToken, JournalStore } from '../store/store.js';

/** The step that runs at present. */
interface CurrentStep {
  readonly name: string;
  /** When the send was granted, on the store's clock. */
  grantedAt?: number;
  /** Whether the grant was used: it may have come after the deadline. */
  sent: boolean;
}

type StepWrite = (fencingToken: FencingToken) => Promise<boolean>;

export interface Steps {
  readonly step: ToolOperation['step'];
  readonly current: () => CurrentStep | undefined;
  /** The step with an unknown outcome, of this run or an earlier one. */
  readonly open: () => string | undefined;
  readonly doneCount: () => number;
  /** A step of this run was sent and definitely not executed. */
  readonly wasRefused: () => boolean;
  /** The write of a step's outcome that failed. Nothing is sent before it succeeds. */
  readonly unwritten: () => StepWrite | undefined;
  /** The store failed during a send request, and may have granted it. */
  readonly grantLost: (name: string) => void;
}

export interface StepsOptions {
  readonly operation: Operation;
  readonly store: Pick<JournalStore, 'completeStep' | 'reopenStep'>;
  /** Takes the operation over from its former owner if necessary; undefined if another process owns it. */
  readonly fencingToken: () => Promise<FencingToken | undefined>;
  /** Whether not finding a step from now on proves that it was not executed. */
  readonly provesAbsence: (
    absence: Absence,
    sentBy: 'earlier_run' | 'this_run',
  ) => Promise<boolean>;
  /** Resolves to `unknown` if the read-back fails or exceeds its deadline. */
  readonly readBack: <T>(
    reconcile: StepReadBack<T>,
    sentAt: number,
  ) => ReturnType<StepReadBack<T>['readBack']>;
  readonly report: (cause: unknown) => void;
  /** Schema of the tool's step results, if it declares one. */
  readonly resultSchema: Tool['step'];
}

/** Runs the steps of an operation: completed ones return their result, an open one is read back first. */
export function createSteps(options: StepsOptions): Steps {
  const { operation, store, report } = options;
  const done = new Map<string, string>();
  let open: Pick<Step, 'name' | 'at'> | undefined;
  for (const each of operation.steps) {
    if (each.state === 'done') done.set(each.name, each.result ?? 'null');
    else open = each;
  }
  let current: CurrentStep | undefined;
  let refused = false;
  let unwritten: StepWrite | undefined;

  /** False: another process owns the operation. A write that the store rejects is retried at settlement. */
  const writeStep = async (write: StepWrite): Promise<boolean> => {
    const fencingToken = await acquire();
    if (!fencingToken) return false;
    try {
      return await write(fencingToken);
    } catch (cause) {
      report(cause);
      unwritten = write;
      return true;
    }
  };
  const acquire = async (): Promise<FencingToken | undefined> => {
    try {
      return await options.fencingToken();
    } catch (cause) {
      report(cause);
      return undefined;
    }
  };

  /** Records an executed step. If that fails, other processes see its outcome as unknown. */
  const complete = async (name: string, result: unknown, sentAt?: number): Promise<void> => {
    const json = JSON.stringify(result) ?? 'null';
    if (!(await writeStep((fencingToken) => store.completeStep(fencingToken, name, json)))) {
      if (sentAt !== undefined) open = { name, at: sentAt };
      return refuseSend.journalUnavailable(sentAt === undefined ? 'not_executed' : 'unknown');
    }
    done.set(name, json);
    open = undefined;
  };

  /** Records that a step was not executed, so that it can be sent again. */
  const reopen = async (name: string): Promise<void> => {
    if (await writeStep((fencingToken) => store.reopenStep(fencingToken, name))) open = undefined;
  };

  /** The result of a step that an earlier run left open; undefined if it can be sent again. */
  const recover = async <T>(
    { name, at }: Pick<Step, 'name' | 'at'>,
    reconcile: StepReadBack<T> | undefined,
  ): Promise<{ readonly result: T } | undefined> => {
    if (!reconcile) return refuseSend.stepUnknown(name);
    // Before the read-back: a former owner could send between the read-back and the liveness check.
    const proves = await options.provesAbsence(reconcile, 'earlier_run');
    const result = await options.readBack(reconcile, at);
    if (result.found === 'executed') {
      await complete(name, result.data, at);
      return { result: result.data };
    }
    if (result.found !== 'absent' || !proves) return refuseSend.stepUnknown(name);
    await reopen(name);
    if (open) refuseSend.stepUnknown(name);
    return unwritten && refuseSend.stepUnwritten();
  };

  /** Handles an exception of a step: returns the result if a read-back finds it, otherwise rethrows. */
  const afterThrow = async <T>(
    step: CurrentStep,
    cause: unknown,
    reconcile: StepReadBack<T> | undefined,
  ): Promise<T> => {
    const { name, grantedAt } = step;
    if (grantedAt === undefined) throw cause;
    if (!step.sent) {
      await reopen(name);
      throw cause;
    }
    open = { name, at: grantedAt };
    if (operation.effect === 'idempotent' || outcomeOfThrown(cause) === 'not_executed') {
      await reopen(name);
    } else if (reconcile) {
      const proves = await options.provesAbsence(reconcile, 'this_run');
      const result = await options.readBack(reconcile, grantedAt);
      if (result.found === 'executed') {
        await complete(name, result.data, grantedAt);
        return result.data;
      }
      if (result.found === 'absent' && proves) await reopen(name);
    }
    refused = open === undefined;
    throw cause;
  };

  const step: ToolOperation['step'] = async (name, run, reconcile) => {
    const stored = done.get(name);
    if (stored !== undefined) {
      const result: unknown = JSON.parse(stored);
      // An operator or an earlier version of the tool may have written it, and later steps use it.
      if (options.resultSchema?.safeParse(result).success === false) {
        return refuseSend.stepResultInvalid(name);
      }
      return result as Awaited<ReturnType<typeof run>>;
    }
    if (current) throw new TypeError(`step ${name}: step ${current.name} is still running`);
    if (unwritten) return refuseSend.stepUnwritten();
    if (open && open.name !== name) return refuseSend.stepUnknown(open.name);
    const recovered = open && (await recover(open, reconcile));
    if (recovered) return recovered.result;

    const running: CurrentStep = { name, sent: false };
    current = running;
    refused = false;
    try {
      let result;
      try {
        result = await run();
      } catch (cause) {
        return await afterThrow(running, cause, reconcile);
      }
      await complete(name, result, running.sent ? running.grantedAt : undefined);
      return result;
    } finally {
      current = undefined;
    }
  };

  return {
    step,
    current: () => current,
    open: () => open?.name,
    doneCount: () => done.size,
    wasRefused: () => refused,
    unwritten: () => unwritten,
    grantLost: (name) => {
      unwritten = (fencingToken) => store.reopenStep(fencingToken, name);
    },
  };
}
