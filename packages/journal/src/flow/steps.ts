import type { Absence, StepReadBack, Tool, ToolOperation } from '@toolkeel/contract';
import type { Operation, Step } from '../operation.js';
import type { FencingToken, JournalStore } from '../store/store.js';
import { outcomeOfThrown, refuse } from './thrown.js';

/** A step at work. */
interface CurrentStep {
  readonly name: string;
  /** When the right to send was given, on the store's clock. */
  grantedAt?: number;
  /** Whether it was used: it may have come too late. */
  sent: boolean;
}

type Write = (fencingToken: FencingToken) => Promise<boolean>;

export interface Steps {
  readonly step: ToolOperation['step'];
  readonly current: () => CurrentStep | undefined;
  /** The step that was sent and whose end nobody knows, in this life or in an earlier one. */
  readonly open: () => string | undefined;
  readonly doneCount: () => number;
  /** A step of this life was sent, and surely did not happen. */
  readonly wasRefused: () => boolean;
  /** How a step ended, which could not be written down yet. Nothing goes on before it is. */
  readonly unwritten: () => Write | undefined;
  /** The store failed when it was asked for the right to send: it may have given it, unheard. */
  readonly unheard: (name: string) => void;
}

export interface StepsDeps {
  readonly operation: Operation;
  readonly store: Pick<JournalStore, 'completeStep' | 'reopenStep'>;
  /** Our hold on the operation, taken over from its former owner where need be; or it is lost. */
  readonly fencingToken: () => Promise<FencingToken | undefined>;
  /** Whether not finding it, from now on, proves that it did not happen. */
  readonly provesAbsence: (absence: Absence, life: 'earlier' | 'own') => Promise<boolean>;
  /** What a read-back says, or `unknown` when it fails or takes too long. */
  readonly readBack: <T>(
    reconcile: StepReadBack<T>,
    sentAt: number,
  ) => ReturnType<StepReadBack<T>['readBack']>;
  readonly report: (cause: unknown) => void;
  /** What a step of this tool gives; undefined where nobody has said so. */
  readonly result: Tool['step'];
}

/** The steps of an operation: done ones give their result, open ones are read back, others run. */
export function steps(deps: StepsDeps): Steps {
  const { operation, store, report } = deps;
  const done = new Map<string, string>();
  let open: Pick<Step, 'name' | 'at'> | undefined;
  for (const each of operation.steps) {
    if (each.state === 'done') done.set(each.name, each.result ?? 'null');
    else open = each;
  }
  let current: CurrentStep | undefined;
  let refused = false;
  let unwritten: Write | undefined;

  /** False: it is not ours any more. What the store does not take now is written later. */
  const writeDown = async (write: Write): Promise<boolean> => {
    const fencingToken = await holdOn();
    if (!fencingToken) return false;
    try {
      return await write(fencingToken);
    } catch (cause) {
      report(cause);
      unwritten = write;
      return true;
    }
  };
  const holdOn = async (): Promise<FencingToken | undefined> => {
    try {
      return await deps.fencingToken();
    } catch (cause) {
      report(cause);
      return undefined;
    }
  };

  /** It happened. Where that cannot be written, for everybody else its end is not known. */
  const complete = async (name: string, result: unknown, sentAt?: number): Promise<void> => {
    const json = JSON.stringify(result) ?? 'null';
    if (!(await writeDown((fencingToken) => store.completeStep(fencingToken, name, json)))) {
      if (sentAt !== undefined) open = { name, at: sentAt };
      return refuse.journalDown(sentAt === undefined ? 'not_executed' : 'unknown');
    }
    done.set(name, json);
    open = undefined;
  };

  /** It did not happen, so it may be sent anew. */
  const reopen = async (name: string): Promise<void> => {
    if (await writeDown((fencingToken) => store.reopenStep(fencingToken, name))) open = undefined;
  };

  /** The result of a step that an earlier life left open; undefined when it may be sent anew. */
  const recover = async <T>(
    { name, at }: Pick<Step, 'name' | 'at'>,
    reconcile: StepReadBack<T> | undefined,
  ): Promise<{ readonly result: T } | undefined> => {
    if (!reconcile) return refuse.unresolved(name);
    // Asked first: a former owner could still send between a look and the question whether it lives.
    const proves = await deps.provesAbsence(reconcile, 'earlier');
    const found = await deps.readBack(reconcile, at);
    if (found.found === 'executed') {
      await complete(name, found.data, at);
      return { result: found.data };
    }
    if (found.found !== 'absent' || !proves) return refuse.unresolved(name);
    await reopen(name);
    if (open) refuse.unresolved(name);
    return unwritten && refuse.unwritten();
  };

  /** A step threw. Its result if it happened all the same; else what it threw. */
  const afterThrow = async <T>(
    at: CurrentStep,
    cause: unknown,
    reconcile: StepReadBack<T> | undefined,
  ): Promise<T> => {
    const { grantedAt } = at;
    if (grantedAt === undefined) throw cause;
    if (!at.sent) {
      await reopen(at.name);
      throw cause;
    }
    open = { name: at.name, at: grantedAt };
    if (operation.effect === 'idempotent' || outcomeOfThrown(cause) === 'not_executed') {
      await reopen(at.name);
    } else if (reconcile) {
      const proves = await deps.provesAbsence(reconcile, 'own');
      const found = await deps.readBack(reconcile, grantedAt);
      if (found.found === 'executed') {
        await complete(at.name, found.data, grantedAt);
        return found.data;
      }
      if (found.found === 'absent' && proves) await reopen(at.name);
    }
    refused = open === undefined;
    throw cause;
  };

  const step: ToolOperation['step'] = async (name, run, reconcile) => {
    const stored = done.get(name);
    if (stored !== undefined) {
      const result: unknown = JSON.parse(stored);
      // Also written by people, and by earlier versions of the tool: what follows goes by it.
      if (deps.result?.safeParse(result).success === false) return refuse.unusable(name);
      return result as Awaited<ReturnType<typeof run>>;
    }
    if (current) throw new TypeError(`step ${name}: ${current.name} has not ended yet`);
    if (unwritten) return refuse.unwritten();
    if (open && open.name !== name) return refuse.unresolved(open.name);
    const recovered = open && (await recover(open, reconcile));
    if (recovered) return recovered.result;

    const at: CurrentStep = { name, sent: false };
    current = at;
    refused = false;
    try {
      let result;
      try {
        result = await run();
      } catch (cause) {
        return await afterThrow(at, cause, reconcile);
      }
      await complete(name, result, at.sent ? at.grantedAt : undefined);
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
    unheard: (name) => {
      unwritten = (fencingToken) => store.reopenStep(fencingToken, name);
    },
  };
}
