import { checkNumber, MAX_TIMER_MS } from '../decide/validate.js';
import type { Layer } from '../engine/layer.js';
import { completeRetryPolicy, type RetryPolicy } from '../decide/policy.js';

const bounds = { above: 0, max: MAX_TIMER_MS };

/** Limits the whole call, backoffs and retries included. */
export function deadline(timeoutMs: number): Layer {
  checkNumber('deadline', timeoutMs, bounds);
  return { name: 'deadline', loop: { callTimeoutMs: timeoutMs } };
}

/** Limits one attempt; a retry may follow. */
export function attemptTimeout(timeoutMs: number): Layer {
  checkNumber('attemptTimeout', timeoutMs, bounds);
  return { name: 'attemptTimeout', loop: { attemptTimeoutMs: timeoutMs } };
}

/** Limits the time without `attempt.progress()` in one attempt; a retry may follow. */
export function idle(timeoutMs: number): Layer {
  checkNumber('idle', timeoutMs, bounds);
  return { name: 'idle', loop: { idleTimeoutMs: timeoutMs } };
}

/** Retries as `shouldRetry` decides. Accepts a preset, of which only the retry settings are used. */
export function retry(policy: Partial<RetryPolicy> = {}): Layer {
  return { name: 'retry', loop: { retry: completeRetryPolicy(policy) } };
}
