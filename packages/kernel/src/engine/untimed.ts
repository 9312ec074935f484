import { Attempt, type AttemptContext } from './attempt.js';

/**
 * Runs a wait that is not the upstream's, such as the callee's own pacing. Meanwhile only the call's
 * deadline applies; the timeouts of the attempt start when the wait ends. A context
 * that is not the kernel's has no timeouts.
 *
 * A function instead of a method, so that bundles without such waits do not contain it.
 */
export async function untimed<T>(
  attempt: Pick<AttemptContext, 'signal'>,
  wait: () => Promise<T>,
): Promise<T> {
  if (!(attempt instanceof Attempt)) return wait();
  restart(attempt, Infinity);
  try {
    return await wait();
  } finally {
    restart(attempt, attempt.call.plan.clock.now());
  }
}

/** An attempt that starts at `Infinity` waits: it is neither timed nor evidence about the upstream. */
function restart(attempt: Attempt, at: number): void {
  if (attempt.done) return;
  attempt.startedAt = attempt.progressAt = at;
  attempt.call.resetAlarm();
}
