import { faultOf, type Reconciliation } from '@toolkeel/contract';
import type { Clock, Fault, FaultKind } from '@toolkeel/kernel';
import { pause } from '@toolkeel/pack-kit';

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 2_000;
const LIMIT_PAUSE_MS = 4_000;

/** Faults that a later read may not have. */
const transient: ReadonlySet<FaultKind> = new Set([
  'connect',
  'network',
  'timeout',
  'rate_limited',
  'server',
  'auth',
  'bad_response',
  'circuit_open',
  'overloaded',
]);

/**
 * Repeats a read until it finds the post or the time is up, with exponential backoff. A failed read ends the
 * search only if no later one can succeed.
 */
export async function pollUntilFound<T>(
  clock: Clock,
  signal: AbortSignal,
  until: number,
  read: () => Promise<Reconciliation<T>>,
): Promise<Reconciliation<T>> {
  let failed: Fault | undefined;
  for (let waitMs = FIRST_PAUSE_MS; ; waitMs = Math.min(LAST_PAUSE_MS, waitMs * 2)) {
    let pauseMs: number | undefined = waitMs;
    try {
      const result = await read();
      if (result.found === 'executed' || clock.now() + waitMs >= until) return result;
      failed = undefined;
    } catch (cause) {
      const fault = faultOf(cause);
      pauseMs = fault && pauseAfter(fault, failed, waitMs, until - clock.now());
      if (pauseMs === undefined) throw cause;
      failed = fault;
    }
    await pause(clock, pauseMs, signal);
  }
}

/** How long to wait after a failed read, given the failure before it; undefined to give up. */
export function pauseAfter(
  fault: Fault,
  before: Fault | undefined,
  waitMs: number,
  leftMs: number,
): number | undefined {
  const { kind, final, retryAfterMs = 0 } = fault;
  if (final || !transient.has(kind)) return undefined;
  // X occasionally rejects a valid login; a second rejection is final.
  if (kind === 'auth' && before?.kind === 'auth') return undefined;
  // A rate limit without a time to wait gets a longer pause.
  const least = kind === 'rate_limited' && retryAfterMs === 0 ? LIMIT_PAUSE_MS : waitMs;
  const named = Math.max(least, retryAfterMs);
  if (named < leftMs) return named;
  // The time of a rate limit is binding; that of other faults is an estimate.
  const isLimit = kind === 'rate_limited';
  return !isLimit && waitMs < leftMs ? waitMs : undefined;
}
