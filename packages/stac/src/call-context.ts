import type { ToolContext } from '@toolkeel/contract';

/** The context of one tool call, shared by all its requests. */
export interface CallContext {
  /** Milliseconds on the pack's clock. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly correlationId: string;
  readonly noteRetry: () => void;
  readonly progress: ToolContext['progress'];
}

export function callContextOf(context: ToolContext, now: number, capMs: number): CallContext {
  return {
    deadline: Math.min(context.deadline, now + capMs),
    // A getter, because the host creates the signal on first access.
    get signal() {
      return context.signal;
    },
    correlationId: context.correlationId,
    noteRetry: context.noteRetry,
    progress: context.progress,
  };
}

export function withDeadline(context: CallContext, deadline: number): CallContext {
  return { ...context, deadline: Math.min(context.deadline, deadline) };
}

/** Limits optional work to a share of the remaining time. */
export function withTimeShare(context: CallContext, now: number, share: number): CallContext {
  return withDeadline(context, now + (context.deadline - now) * share);
}
