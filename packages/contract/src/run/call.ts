import { randomUUID } from 'node:crypto';
import type { ToolContext } from '../tool/context.js';
import { processClock, type RunClock, type RunOptions } from './options.js';
import type { CallBounds } from './deadline.js';

/** One call: its id, its clock, its retries, and where its surprises are reported. */
export interface Call {
  readonly correlationId: string;
  readonly options: RunOptions;
  /** Absent where the call may take as long as it likes, and nobody can end it. */
  readonly bounds: CallBounds | undefined;
  readonly elapsedMs: () => number;
  readonly noteRetry: () => void;
  readonly retryCount: () => number;
  readonly report: (cause: unknown) => void;
}

export function beginCall(options: RunOptions): Call {
  const { clock = processClock, onUnexpected } = options;
  const now = unfailing(() => clock.now());
  const givenId: unknown = options.correlationId;
  const correlationId = typeof givenId === 'string' && givenId !== '' ? givenId : randomUUID();
  const begunAt = now();
  const { startedAt = begunAt } = options;
  let noted = 0;
  return {
    correlationId,
    options,
    bounds: boundsOf(options, clock, begunAt),
    elapsedMs: () => now() - startedAt,
    noteRetry: () => {
      noted += 1;
    },
    retryCount: unfailing(() => options.retryCount?.(noted) ?? noted),
    report: (cause) => {
      try {
        onUnexpected?.(cause, correlationId);
      } catch {
        // A hook that fails must not take the answer with it.
      }
    },
  };
}

/** Longer than anybody means to wait. */
const A_YEAR_MS = 366 * 24 * 3_600_000;

function boundsOf(
  { deadline = Number.POSITIVE_INFINITY, signal }: RunOptions,
  clock: RunClock,
  now: number,
): CallBounds | undefined {
  // Found out only when it is needed, it would end a call that has begun.
  if (signal !== undefined && typeof signal.addEventListener !== 'function') {
    throw new TypeError('signal: must be an AbortSignal');
  }
  if (deadline === Number.POSITIVE_INFINITY) {
    return signal === undefined ? undefined : { clock, deadline, signal };
  }
  // A deadline that nobody can keep must not look like one that is kept.
  if (typeof deadline !== 'number' || Number.isNaN(deadline - now)) {
    throw new TypeError('deadline and clock: must be numbers of milliseconds');
  }
  // An epoch time would be a deadline in fifty years.
  if (deadline - now > A_YEAR_MS) {
    throw new TypeError("deadline: must be a time on the run's own clock, not since the epoch");
  }
  return { clock, deadline, signal };
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

/** The handler's view of the call. */
export function handlerContext(
  call: Call,
  { account, cursor }: { readonly account: string; readonly cursor: unknown },
  extra: NonNullable<RunOptions['extraContext']> = {},
): ToolContext {
  const { options, bounds, correlationId, noteRetry } = call;
  let ownSignal: AbortSignal | undefined;
  return {
    // Read through, because whoever gives it may make it only when somebody asks for it.
    get signal() {
      return extra.signal ?? bounds?.signal ?? (ownSignal ??= new AbortController().signal);
    },
    deadline: extra.deadline ?? bounds?.deadline ?? Number.POSITIVE_INFINITY,
    correlationId,
    account,
    progress: options.progress ?? ignore,
    noteRetry,
    ...(cursor !== undefined && { cursor }),
    ...(extra.operation && { operation: extra.operation }),
    ...(extra.onDelivered && { onDelivered: extra.onDelivered }),
  };
}

function ignore(): void {
  // Nobody is waiting for progress.
}
