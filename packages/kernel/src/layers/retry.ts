import { completeRetryPolicy, type RetryPolicy } from '../decide/retry-policy.js';
import type { Layer } from '../engine/layer.js';

/** Tries again where `shouldRetry` says so. A preset fits too: only its retry part is read. */
export function retry(policy: Partial<RetryPolicy> = {}): Layer {
  return { name: 'retry', loop: { retry: completeRetryPolicy(policy) } };
}
