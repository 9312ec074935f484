// Decisions: pure functions.
export { calculateBackoff, jitteredBackoff } from './decide/backoff.js';
export type { Backoff, JitterContext } from './decide/backoff.js';
export { definePolicy } from './decide/policy.js';
export type { ResiliencePolicy } from './decide/policy.js';
export type { RateLimitRule, RetryPolicy } from './decide/retry-policy.js';
export {
  calculateRateLimitDelay,
  checkRateLimit,
  parseRateLimitHeaders,
} from './decide/rate-limit.js';
export type { RateLimitInfo } from './decide/rate-limit.js';
export { shouldRetry } from './decide/should-retry.js';
export type {
  GiveUpReason,
  RetryContext,
  RetryDecision,
  RetryNumbers,
} from './decide/should-retry.js';
export {
  isDailyQuota,
  isRateLimited,
  MAX_PLAUSIBLE_WAIT_MS,
  parseServerHints,
} from './hints/index.js';
export type { ResponseLike, ServerHints } from './hints/index.js';
export { llmAdapters, presets } from './presets.js';

// Faults.
export { classifyError, faultFromResponse } from './classify.js';
export type { Classify } from './classify.js';
export type { Effect, Fault, FaultKind, Outcome, Sent, TimeoutClock } from './fault.js';
export { describeFault, FaultError } from './fault-error.js';

// Guarded calls.
export { withResilience } from './guard.js';
export type { ResilienceOptions } from './guard.js';
export { executeWithRetry } from './execute-with-retry.js';
export type { ExecuteOptions } from './execute-with-retry.js';
export { compose, Pipeline } from './engine/pipeline.js';
export type { ResilientFunction, PipelineOptions, Work } from './engine/pipeline.js';
export type { AttemptContext } from './engine/attempt.js';
export type { CallOptions } from './engine/call.js';
export { upstream, Upstream } from './upstream/upstream.js';

// Layers.
export type { AttemptFn, CallFn, Layer } from './engine/layer.js';
export { wrapping } from './engine/wrapping.js';
export type { Wraps } from './engine/wrapping.js';
export type { Attempt } from './engine/attempt.js';
export type { Call } from './engine/call.js';
export type { Plan } from './engine/plan.js';
export { breaker } from './layers/breaker.js';
export type { BreakerOptions, BreakerState } from './layers/breaker.js';
export { budget } from './layers/budget.js';
export type { BudgetOptions } from './layers/budget.js';
export { bulkhead } from './layers/bulkhead.js';
export type { BulkheadOptions } from './layers/bulkhead.js';
export { cache } from './layers/cache.js';
export type { CacheOptions } from './layers/cache.js';
export { attemptTimeout, deadline, idle } from './layers/clocks.js';
export { counters } from './layers/counters.js';
export { hedge } from './layers/hedge.js';
export type { HedgeOptions } from './layers/hedge.js';
export { limitGate } from './layers/limit-gate.js';
export { observe } from './layers/observe.js';
export { refreshAuth } from './layers/refresh-auth.js';
export type { RefreshAuth } from './layers/refresh-auth.js';
export { retry } from './layers/retry.js';
export { singleflight } from './layers/singleflight.js';
export type { KeyOf } from './layers/singleflight.js';
export { health } from './upstream/health.js';
export type { HealthOptions } from './upstream/health.js';

// Time.
export { systemClock } from './time/clock.js';
export type { Clock, Timer } from './time/clock.js';
export { countProgress, withIdleTimeout } from './time/idle-stream.js';
export type { IdleStreamOptions } from './time/idle-stream.js';
export { callScopes } from './scope.js';
export type { CallScope } from './scope.js';
export type { KernelEvent, KernelEventType, Listener } from './events.js';
