// Decisions: pure functions.
export { calculateBackoff, jitteredBackoff } from './decide/backoff.js';
export type { Backoff, JitterContext } from './decide/backoff.js';
export { definePolicy } from './decide/policy.js';
export type { ResiliencePolicy } from './decide/policy.js';
export type { RateLimitRule, RetryPolicy } from './decide/policy.js';
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
export { isDailyQuota } from './hints/google-errors.js';
export { isRateLimited } from './hints/is-rate-limited.js';
export { MAX_PLAUSIBLE_WAIT_MS } from './hints/numbers.js';
export { parseServerHints } from './hints/parse-server-hints.js';
export type { ServerHints } from './hints/parse-server-hints.js';
export type { ResponseLike } from './hints/response.js';
export { llmAdapters, presets } from './presets.js';

// Faults.
export { classifyError, faultFromResponse } from './classify.js';
export type { Classify } from './classify.js';
export type { Effect, Fault, FaultKind, Outcome, Sent, TimeoutClock } from './fault.js';
export { describeFault, FaultError } from './fault.js';

// Guarded calls.
export { withResilience } from './with-resilience.js';
export type { ResilienceOptions } from './with-resilience.js';
export { executeWithRetry } from './with-resilience.js';
export type { ExecuteOptions } from './with-resilience.js';
export { compose, Pipeline } from './engine/pipeline.js';
export type { ResilientFunction, PipelineOptions, Work } from './engine/pipeline.js';
export type { AttemptContext } from './engine/attempt.js';
export type { CallOptions } from './engine/call.js';
export { upstream, Upstream } from './upstream.js';

// Layers.
export type { AttemptFn, CallFn, Layer } from './engine/layer.js';
export { wrapping } from './engine/pipeline.js';
export type { Wraps } from './engine/pipeline.js';
export type { Attempt } from './engine/attempt.js';
export type { Call } from './engine/call.js';
export type { Plan } from './engine/layer.js';
export { breaker } from './layers/breaker.js';
export type { BreakerOptions, BreakerState } from './layers/breaker.js';
export { budget } from './layers/budget.js';
export type { BudgetOptions } from './layers/budget.js';
export { bulkhead } from './layers/bulkhead.js';
export type { BulkheadOptions } from './layers/bulkhead.js';
export { cache } from './layers/cache.js';
export type { CacheOptions } from './layers/cache.js';
export { attemptTimeout, deadline, idle } from './layers/retry-and-timeouts.js';
export { counters } from './layers/observe.js';
export { hedge } from './layers/hedge.js';
export type { HedgeOptions } from './layers/hedge.js';
export { limitGate } from './layers/limit-gate.js';
export { observe } from './layers/observe.js';
export { refreshAuth } from './layers/refresh-auth.js';
export type { RefreshAuth } from './layers/refresh-auth.js';
export { retry } from './layers/retry-and-timeouts.js';
export { singleflight } from './layers/singleflight.js';
export type { KeyOf } from './layers/singleflight.js';
export { health } from './layers/health.js';
export type { HealthOptions } from './layers/health.js';

// Time.
export { systemClock } from './time/clock.js';
export type { Clock, Timer } from './time/clock.js';
export { countProgress, withIdleTimeout } from './time/idle-stream.js';
export type { IdleStreamOptions } from './time/idle-stream.js';
export { callScopes } from './call-scope.js';
export type { CallScope } from './call-scope.js';
export type { KernelEvent, KernelEventType, Listener } from './events.js';
