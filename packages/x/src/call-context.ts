import { withSendToken, type ToolContext, type ToolOperation } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Account } from './api/account.js';
import type { ReadContext } from './api/provider.js';
import { classify, otherLogin } from './faults.js';

/** A tool call as its requests see it. All of them share one deadline. */
export interface CallContext extends ReadContext {
  /** Milliseconds on the pack's clock. */
  readonly deadline: number;
  readonly noteRetry: () => void;
  /**
   * Runs a write after its operation is recorded as sending. Throws if the journal refuses that, or if the
   * credential now belongs to another account than the call was accepted for.
   */
  readonly send: ToolOperation['send'];
}

export function createCallContext(
  context: ToolContext,
  now: number,
  capMs: number,
  account?: Account,
): CallContext {
  const { operation, correlationId, noteRetry } = context;
  const deadline = Math.min(context.deadline, now + capMs);
  const acceptedFor = account?.current();
  const isSameAccount = async (signal: AbortSignal): Promise<boolean> => {
    if (!account) return true;
    if (!operation) return account.current() === acceptedFor;
    return account.isOwn(operation.account, { signal, deadline, correlationId, noteRetry });
  };
  return {
    deadline,
    // Lazy, because a host may create the signal on first access.
    get signal() {
      return context.signal;
    },
    correlationId,
    noteRetry,
    send: async (write, { signal = context.signal } = {}) => {
      if (!(await isSameAccount(signal))) throw new FaultError(classify(otherLogin()));
      return operation ? operation.send(write, { signal }) : withSendToken(0, write);
    },
  };
}
