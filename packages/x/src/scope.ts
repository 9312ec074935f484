import type { ToolContext } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { classify } from './faults.js';
import { otherLogin } from './not-configured.js';

/** One tool call, as the requests that it makes see it: all of them share its deadline. */
export interface Scope {
  /** Milliseconds on the pack's clock. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly correlationId: string;
  readonly noteRetry: () => void;
  /** Directly before the first byte of a write; a journal makes a note of it. */
  readonly sending: () => Promise<unknown>;
}

export function scopeOf(
  context: ToolContext,
  now: number,
  capMs: number,
  account?: () => string,
): Scope {
  const { operation } = context;
  const actsFor = context.account ?? account?.();
  return {
    deadline: Math.min(context.deadline, now + capMs),
    // Read through, because a host may make the signal only when somebody asks for it.
    get signal() {
      return context.signal;
    },
    correlationId: context.correlationId,
    noteRetry: context.noteRetry,
    sending: async () => {
      if (account && account() !== actsFor) throw new FaultError(classify(otherLogin()));
      return operation?.sending();
    },
  };
}
