import {
  outcomeOfFault,
  withSendToken,
  type Middleware,
  type Next,
  type Others,
  type StepReadBack,
  type ToolOperation,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';

/** A minimal journal: records sends and steps. */
export interface RecordingJournal {
  readonly middleware: Middleware;
  /** The recorded sends, with their step. */
  readonly sends: { readonly step: string | undefined; readonly at: number }[];
  readonly steps: Map<
    string,
    { readonly done: boolean; readonly result?: unknown; readonly at: number }
  >;
  /** Refuses every send, like a lost lease or an exhausted policy limit. */
  refuse: (() => never) | undefined;
  /** The other operations of the account. */
  others: Others;
}

export function recordingJournal(): RecordingJournal {
  let current: string | undefined;
  const journal: RecordingJournal = {
    sends: [],
    steps: new Map(),
    refuse: undefined,
    others: async () => [],
    middleware: async (call, next: Next) => {
      const refusal = await call.check();
      if (refusal) return refusal;
      const account = await call.accountId();
      return 'ok' in account ? account : next({ operation: { ...operation, account: account.id } });
    },
  };
  const operation: Omit<ToolOperation, 'account'> = {
    id: 'op_test',
    others: (tools?: readonly string[]) => journal.others(tools),
    send: async (write) => {
      journal.refuse?.();
      journal.sends.push({ step: current, at: Date.now() });
      if (current !== undefined) journal.steps.set(current, { done: false, at: Date.now() });
      return withSendToken(1, write);
    },
    step: async <T>(
      name: string,
      run: () => Promise<T>,
      reconcile?: StepReadBack<T>,
    ): Promise<T> => {
      const known = journal.steps.get(name);
      if (known?.done) return known.result as T;
      if (known) {
        const found = await reconcile?.readBack({ sentAt: known.at, others: async () => [] });
        if (found?.found !== 'executed') throw new Error(`the outcome of ${name} is unknown`);
        journal.steps.set(name, { done: true, result: found.data, at: known.at });
        return found.data;
      }
      current = name;
      try {
        const result = await run();
        journal.steps.set(name, { done: true, result, at: Date.now() });
        return result;
      } catch (cause) {
        const isRefused =
          cause instanceof FaultError && outcomeOfFault('once', cause.fault) === 'not_executed';
        if (isRefused) journal.steps.delete(name);
        throw cause;
      } finally {
        current = undefined;
      }
    },
  };
  return journal;
}
