export type { Effect, Fault, FaultKind, Outcome, Sent, TimeoutClock } from './fault.js';
export type { RateLimitInfo } from './decide/rate-limit.js';
