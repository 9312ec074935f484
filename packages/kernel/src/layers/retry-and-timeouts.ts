import { checkNumber, MAX_TIMER_MS } from '../decide/validate.js';
import type { Layer } from '../engine/layer.js';
import { completeRetryPolicy, type RetryPolicy } from '../decide/policy.js';

const bounds = { above: 0, max: MAX_TIMER_MS };

/** The whole call is over after this long, waits and retries included, whatever the callee does. */
export function deadline(timeoutMs: number): Layer {
  checkNumber('deadline', timeoutMs, bounds);
  return { name: 'deadline', loop: { callTimeoutMs: timeoutMs } };
}

/** One attempt is over after this long; a retry may follow. */
export function attemptTimeout(timeoutMs: number): Layer {
  checkNumber('attemptTimeout', timeoutMs, bounds);
  return { name: 'attemptTimeout', loop: { attemptTimeoutMs: timeoutMs } };
}

/** One attempt is over after this long without `attempt.progress()`; a retry may follow. */
export function idle(timeoutMs: number): Layer {
  checkNumber('idle', timeoutMs, bounds);
  return { name: 'idle', loop: { idleTimeoutMs: timeoutMs } };
}

/** Tries again where `shouldRetry` says so. A preset fits too: only its retry part is read. */
export function retry(policy: Partial<RetryPolicy> = {}): Layer {
  return { name: 'retry', loop: { retry: completeRetryPolicy(policy) } };
}
