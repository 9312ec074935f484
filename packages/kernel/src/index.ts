// Decisions: pure functions.
export { calculateBackoff, jitteredBackoff } from './decide/backoff.js';
export type { Backoff, JitterContext } from './decide/backoff.js';
export { definePolicy } from './decide/policy.js';
export type { RateLimitRule, ResiliencePolicy, RetryPolicy } from './decide/policy.js';
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
export { describeFault, FaultError } from './fault.js';
export type { Effect, Fault, FaultKind, Outcome, Sent, TimeoutClock } from './fault.js';

// Resilient functions.
export { executeWithRetry, withResilience } from './with-resilience.js';
export type { ExecuteOptions, ResilienceOptions } from './with-resilience.js';
export { compose, Pipeline, wrapping } from './engine/pipeline.js';
export type { PipelineOptions, ResilientFunction, Work, Wraps } from './engine/pipeline.js';
export type { Attempt, AttemptContext } from './engine/attempt.js';
export type { Call, CallOptions } from './engine/call.js';
export { untimed } from './engine/untimed.js';
export type { AttemptFn, CallFn, Layer, Plan } from './engine/layer.js';
export { upstream, Upstream } from './upstream.js';

// Layers.
export { breaker } from './layers/breaker.js';
export type { BreakerOptions, BreakerState } from './layers/breaker.js';
export { budget } from './layers/budget.js';
export type { BudgetOptions } from './layers/budget.js';
export { bulkhead } from './layers/bulkhead.js';
export type { BulkheadOptions } from './layers/bulkhead.js';
export { cache } from './layers/cache.js';
export type { CacheOptions } from './layers/cache.js';
export { health } from './layers/health.js';
export type { HealthOptions } from './layers/health.js';
export { hedge } from './layers/hedge.js';
export type { HedgeOptions } from './layers/hedge.js';
export { limitGate } from './layers/limit-gate.js';
export { counters, observe } from './layers/observe.js';
export { refreshAuth } from './layers/refresh-auth.js';
export type { RefreshAuth } from './layers/refresh-auth.js';
export { attemptTimeout, deadline, idle, retry } from './layers/retry-and-timeouts.js';
export { singleflight } from './layers/singleflight.js';
export type { KeyOf } from './layers/singleflight.js';

// Time and events.
export { systemClock } from './time/clock.js';
export type { Clock, Timer } from './time/clock.js';
export { countProgress, withIdleTimeout } from './time/idle-stream.js';
export type { IdleStreamOptions } from './time/idle-stream.js';
export { callScopes } from './call-scope.js';
export type { CallScope } from './call-scope.js';
export type { KernelEvent, KernelEventType, Listener } from './events.js';
