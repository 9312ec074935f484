import { faultOf, type Reconciliation } from '@toolkeel/contract';
import type { Clock, Fault, FaultKind } from '@toolkeel/kernel';
import { pause } from '../pause.js';

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 2_000;
const LIMIT_PAUSE_MS = 4_000;

/** What may be over a moment later. */
const passing: ReadonlySet<FaultKind> = new Set([
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
 * Looks until something is found or the time is over, ever more slowly. A look that fails has seen
 * nothing; it ends the watch only where no later one of it could succeed.
 */
export async function watch<T>(
  clock: Clock,
  signal: AbortSignal,
  until: number,
  look: () => Promise<Reconciliation<T>>,
): Promise<Reconciliation<T>> {
  let failed: Fault | undefined;
  for (let waitMs = FIRST_PAUSE_MS; ; waitMs = Math.min(LAST_PAUSE_MS, waitMs * 2)) {
    let pauseMs: number | undefined = waitMs;
    try {
      const seen = await look();
      if (seen.found === 'executed' || clock.now() + waitMs >= until) return seen;
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

/** How long to wait after a look that failed, and the one before it; undefined where that helps nobody. */
export function pauseAfter(
  fault: Fault,
  before: Fault | undefined,
  waitMs: number,
  leftMs: number,
): number | undefined {
  const { kind, final, retryAfterMs = 0 } = fault;
  if (final || !passing.has(kind)) return undefined;
  // X refuses a good login now and then. Twice in a row it means it.
  if (kind === 'auth' && before?.kind === 'auth') return undefined;
  // One that names no time is not asked at the ordinary pace.
  const least = kind === 'rate_limited' && retryAfterMs === 0 ? LIMIT_PAUSE_MS : waitMs;
  const named = Math.max(least, retryAfterMs);
  if (named < leftMs) return named;
  // A limit is certain. What else names a time only guesses when it is over.
  const isLimit = kind === 'rate_limited';
  return !isLimit && waitMs < leftMs ? waitMs : undefined;
}
