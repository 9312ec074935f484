import { toolError, type Settled, type SettledFailure, type Tool } from '@toolkeel/contract';
import type { RunningCall } from './scope.js';

/**
 * How long after its end a call may still answer by itself. A handler that heeds its deadline knows
 * more than we do: which attempt it was in, what was sent. We answer for those that do not.
 */
const GRACE_MS = 20;

export interface Bounds {
  readonly now: () => number;
  /** What a handler did after its call was answered without it. */
  readonly onLate: (call: RunningCall, settled: Settled) => void;
}

/** Lets a call work until its end and not longer, whatever the handler does with its signal. */
export function bounded(
  call: RunningCall,
  tool: Pick<Tool, 'mutation'>,
  work: () => Promise<Settled>,
  { now, onLate }: Bounds,
): Promise<Settled> {
  if (call.ended !== undefined) return Promise.resolve(answerFor(call, 'not_executed', tool));
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let isAnswered = false;
    const settle = (settled: Settled): void => {
      if (isAnswered) return onLate(call, settled);
      isAnswered = true;
      clearTimeout(timer);
      call.onEnd = undefined;
      resolve(settled);
    };
    call.onEnd = () => {
      clearTimeout(timer);
      // Its time is over already when the deadline ends it; others get a moment to say how far they came.
      const patience = call.ended === 'deadline' ? 0 : GRACE_MS;
      timer = setTimeout(() => settle(answerFor(call, 'unknown', tool)), patience);
    };
    const left = Math.max(0, call.deadline - now()) + GRACE_MS;
    if (left < MAX_TIMER_MS) timer = setTimeout(() => call.end('deadline'), left);
    work().then(settle, (cause: unknown) => {
      clearTimeout(timer);
      call.onEnd = undefined;
      reject(cause instanceof Error ? cause : new Error('a layer failed', { cause }));
    });
  });
}

const MAX_TIMER_MS = 2 ** 31;

function answerFor(
  call: RunningCall,
  outcome: 'unknown' | 'not_executed',
  tool: Pick<Tool, 'mutation'>,
): SettledFailure {
  const known = tool.mutation ? { outcome } : {};
  if (call.ended === 'deadline') {
    const message = 'The call took longer than it may. Try again later, or ask for less.';
    return failure(toolError('timeout', message, { ...known, details: { clock: 'deadline' } }));
  }
  const message =
    call.ended === 'shutdown' ? 'The server is stopping.' : 'The call was cancelled by its client.';
  return failure(toolError('cancelled', message, known));
}

function failure({ input }: ReturnType<typeof toolError>): SettledFailure {
  return { ok: false, error: input };
}
