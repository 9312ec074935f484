import type { ToolContext } from '@toolkeel/contract';

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

export function scopeOf(context: ToolContext, now: number, capMs: number): Scope {
  const { operation } = context;
  return {
    deadline: Math.min(context.deadline, now + capMs),
    // Read through, because a host may make the signal only when somebody asks for it.
    get signal() {
      return context.signal;
    },
    correlationId: context.correlationId,
    noteRetry: context.noteRetry,
    sending: async () => operation?.sending(),
  };
}
