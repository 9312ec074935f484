import type { ToolContext } from '@toolkeel/contract';

/** One tool call, as the requests that it makes see it: all of them share its deadline. */
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
    // Read through, because a host may make the signal only when somebody asks for it.
    get signal() {
      return context.signal;
    },
    correlationId: context.correlationId,
    noteRetry: context.noteRetry,
    progress: context.progress,
  };
}

/** The same call with less time or another signal, for work that it can do without. */
export function within(
  scope: CallContext,
  limits: { readonly deadline?: number; readonly signal?: AbortSignal },
): CallContext {
  const { deadline = scope.deadline, signal } = limits;
  return {
    ...scope,
    deadline: Math.min(scope.deadline, deadline),
    get signal() {
      return signal ?? scope.signal;
    },
  };
}
