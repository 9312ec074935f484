import { randomUUID } from 'node:crypto';
import type { ToolContext } from '../tool/context.js';
import type { Tool } from '../tool/tool.js';
import { processClock, type RunClock, type RunOptions } from './options.js';
import type { CallBounds } from './deadline.js';

/** State of one call: id, elapsed time, retries, and the report of unexpected causes. */
export interface Call {
  readonly correlationId: string;
  readonly options: RunOptions;
  /** Absent for a call without deadline and signal. */
  readonly bounds: CallBounds | undefined;
  readonly elapsedMs: () => number;
  readonly noteRetry: () => void;
  readonly retryCount: () => number;
  readonly report: (cause: unknown) => void;
}

export function startCall(options: RunOptions): Call {
  const { clock = processClock, onUnexpected } = options;
  const now = neverThrowing(() => clock.now());
  const givenId: unknown = options.correlationId;
  const correlationId = typeof givenId === 'string' && givenId !== '' ? givenId : randomUUID();
  const callStartedAt = now();
  const { startedAt = callStartedAt } = options;
  let noted = 0;
  return {
    correlationId,
    options,
    bounds: boundsOf(options, clock, callStartedAt),
    elapsedMs: () => now() - startedAt,
    noteRetry: () => {
      noted += 1;
    },
    retryCount: neverThrowing(() => options.retryCount?.(noted) ?? noted),
    report: (cause) => {
      try {
        onUnexpected?.(cause, correlationId);
      } catch {
        // An error in the hook must not prevent the answer.
      }
    },
  };
}

const MAX_DEADLINE_MS = 366 * 24 * 3_600_000;

function boundsOf(
  { deadline = Number.POSITIVE_INFINITY, signal }: RunOptions,
  clock: RunClock,
  now: number,
): CallBounds | undefined {
  // Checked now, because a failure later would end a call that has started.
  if (signal !== undefined && typeof signal.addEventListener !== 'function') {
    throw new TypeError('signal: must be an AbortSignal');
  }
  if (deadline === Number.POSITIVE_INFINITY) {
    return signal === undefined ? undefined : { clock, deadline, signal };
  }
  // With NaN the timer would never fire.
  if (typeof deadline !== 'number' || Number.isNaN(deadline - now)) {
    throw new TypeError('deadline and clock: must be numbers of milliseconds');
  }
  // Rejects an epoch time, which would be a deadline in fifty years.
  if (deadline - now > MAX_DEADLINE_MS) {
    throw new TypeError("deadline: must be a time on the run's own clock, not since the epoch");
  }
  return { clock, deadline, signal };
}

/** Returns NaN instead of throwing: a figure for `meta` must not prevent the answer. */
function neverThrowing(read: () => number): () => number {
  return () => {
    try {
      return read();
    } catch {
      return Number.NaN;
    }
  };
}

/** Creates the handler's context. */
export function handlerContext(
  call: Call,
  { effect, retryUnsent }: Tool,
  { account, cursor }: { readonly account: string; readonly cursor: unknown },
  extra: NonNullable<RunOptions['extraContext']> = {},
): ToolContext {
  const { options, bounds, correlationId, noteRetry } = call;
  let ownSignal: AbortSignal | undefined;
  return {
    // A getter, because the signal may be created on first access.
    get signal() {
      return extra.signal ?? bounds?.signal ?? (ownSignal ??= new AbortController().signal);
    },
    deadline: extra.deadline ?? bounds?.deadline ?? Number.POSITIVE_INFINITY,
    correlationId,
    account,
    progress: options.progress ?? ignore,
    noteRetry,
    retryUnsent: effect !== 'once' || retryUnsent === true,
    ...(cursor !== undefined && { cursor }),
    ...(extra.operation && { operation: extra.operation }),
    ...(extra.onDelivered && { onDelivered: extra.onDelivered }),
  };
}

function ignore(): void {
  // The client did not request progress.
}
