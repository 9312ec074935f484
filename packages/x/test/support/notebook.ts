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
export interface Notebook {
  readonly middleware: Middleware;
  /** The recorded sends, with their step. */
  readonly sendings: { readonly step: string | undefined; readonly at: number }[];
  readonly steps: Map<
    string,
    { readonly done: boolean; readonly result?: unknown; readonly at: number }
  >;
  /** Refuses every send, like a lost lease or an exhausted policy limit. */
  refuse: (() => never) | undefined;
  /** The other operations of the account. */
  others: Others;
}

export function notebook(): Notebook {
  let current: string | undefined;
  const book: Notebook = {
    sendings: [],
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
    others: (tools?: readonly string[]) => book.others(tools),
    send: async (write) => {
      book.refuse?.();
      book.sendings.push({ step: current, at: Date.now() });
      if (current !== undefined) book.steps.set(current, { done: false, at: Date.now() });
      return withSendToken(1, write);
    },
    step: async <T>(
      name: string,
      run: () => Promise<T>,
      reconcile?: StepReadBack<T>,
    ): Promise<T> => {
      const known = book.steps.get(name);
      if (known?.done) return known.result as T;
      if (known) {
        const found = await reconcile?.readBack({ sentAt: known.at, others: async () => [] });
        if (found?.found !== 'executed') throw new Error(`the outcome of ${name} is unknown`);
        book.steps.set(name, { done: true, result: found.data, at: known.at });
        return found.data;
      }
      current = name;
      try {
        const result = await run();
        book.steps.set(name, { done: true, result, at: Date.now() });
        return result;
      } catch (cause) {
        const isRefused =
          cause instanceof FaultError && outcomeOfFault('once', cause.fault) === 'not_executed';
        if (isRefused) book.steps.delete(name);
        throw cause;
      } finally {
        current = undefined;
      }
    },
  };
  return book;
}
