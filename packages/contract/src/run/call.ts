import { randomUUID } from 'node:crypto';
import type { ToolContext } from '../tool/context.js';
import type { Next, RunOptions } from './options.js';

/** One call: its id, its clock, its retries, and where its surprises are reported. */
export interface Call {
  readonly correlationId: string;
  readonly options: RunOptions;
  readonly elapsedMs: () => number;
  readonly noteRetry: () => void;
  readonly retryCount: () => number;
  readonly report: (cause: unknown) => void;
}

const monotonic = (): number => performance.now();

export function beginCall(options: RunOptions): Call {
  const { onUnexpected } = options;
  const now = unfailing(options.now ?? monotonic);
  const given = options.correlationId;
  const correlationId = given === undefined || given === '' ? randomUUID() : given;
  const startedAt = now();
  let noted = 0;
  return {
    correlationId,
    options,
    elapsedMs: () => now() - startedAt,
    noteRetry: () => {
      noted += 1;
    },
    retryCount: unfailing(options.retryCount ?? (() => noted)),
    report: (cause) => {
      try {
        onUnexpected?.(cause, correlationId);
      } catch {
        // A hook that fails must not take the answer with it.
      }
    },
  };
}

/** A figure that only decorates the answer must not be able to prevent it. */
function unfailing(read: () => number): () => number {
  return () => {
    try {
      return read();
    } catch {
      return Number.NaN;
    }
  };
}

type Extra = Parameters<Next>[0];

/** The handler's view of the call. */
export function handlerContext(call: Call, cursor: unknown, extra: Extra = {}): ToolContext {
  const { options, correlationId, noteRetry } = call;
  let ownSignal: AbortSignal | undefined;
  return {
    // Read through, because a host may make the signal only when somebody asks for it.
    get signal() {
      return options.signal ?? (ownSignal ??= new AbortController().signal);
    },
    deadline: extra.deadline ?? options.deadline ?? Number.POSITIVE_INFINITY,
    correlationId,
    progress: options.progress ?? ignore,
    noteRetry,
    ...(cursor !== undefined && { cursor }),
    ...(extra.operation && { operation: extra.operation }),
  };
}

function ignore(): void {
  // Nobody is waiting for progress.
}
