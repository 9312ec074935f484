import { withSendToken, type ToolContext, type ToolOperation } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Account } from './api/account.js';
import { classify } from './faults.js';
import { otherLogin } from './not-configured.js';
import type { ReadContext } from './provider/provider.js';

/** One tool call, as the requests that it makes see it: all of them share its deadline. */
export interface Scope extends ReadContext {
  /** Milliseconds on the pack's clock. */
  readonly deadline: number;
  readonly noteRetry: () => void;
  /**
   * Runs a write once its operation is recorded as sending. Throws where the journal refuses that, and
   * where the credential belongs to another account than the one that the call was accepted for.
   */
  readonly send: ToolOperation['send'];
}

export function scopeOf(
  context: ToolContext,
  now: number,
  capMs: number,
  account?: Account,
): Scope {
  const { operation, correlationId, noteRetry } = context;
  const deadline = Math.min(context.deadline, now + capMs);
  const acceptedFor = account?.current();
  const isSame = async (signal: AbortSignal): Promise<boolean> => {
    if (!account) return true;
    if (!operation) return account.current() === acceptedFor;
    return account.isOwn(operation.account, { signal, deadline, correlationId, noteRetry });
  };
  return {
    deadline,
    // Read through, because a host may make the signal only when somebody asks for it.
    get signal() {
      return context.signal;
    },
    correlationId,
    noteRetry,
    send: async (write, { signal = context.signal } = {}) => {
      if (!(await isSame(signal))) throw new FaultError(classify(otherLogin()));
      return operation ? operation.send(write, { signal }) : withSendToken(0, write);
    },
  };
}
