import { definePolicy, type Policy } from '../decide/policy.js';
import type { Layer } from '../engine/layer.js';

/** Tries again where `shouldRetry` says so. Only the retry part of a policy is read here. */
export function retry(policy: Partial<Policy> = {}): Layer {
  return { name: 'retry', loop: { retry: definePolicy(policy) } };
}
