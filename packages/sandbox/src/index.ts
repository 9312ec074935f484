/**
 * Local upstreams that speak the real wire formats and fail on command.
 *
 * @module
 */
export type { DrawBy, Fault } from './chaos/chaos.js';
export { fastFaults, type FaultKind } from './chaos/kinds.js';
export type { Latency, LatencyShape } from './chaos/latency.js';
export type { FaultRule, RetryAfter } from './chaos/rule.js';
export { faultFromText, latencyFromText } from './chaos/rule-text.js';
export { UsageError } from './chaos/usage.js';
export type { Flag } from './flags/flag.js';
export type { Counts, LogEntry, LogQuery, Outcome } from './front/log.js';
export type { Sandbox } from './sandbox/open.js';

export type { AssetFacts, Manner } from './stac/catalogue/assets.js';
export { stacFlags, stacOptionsFromFlags, type StacFlagValues } from './stac/flags.js';
export type { Flavour } from './stac/flavour/flavours.js';
export type { Traits } from './stac/flavour/traits.js';
export type { StacSandboxOptions } from './stac/options.js';
export { startStacSandbox, type StacSandbox } from './stac/start.js';

export type { Tier } from './x/api/call.js';
export type { Scope } from './x/auth/scopes.js';
export type { IssuedTokens, IssueOptions } from './x/auth/tokens.js';
export type { Clock } from './x/clock.js';
export type { Act, Commit, CommitQuery } from './x/commits.js';
export { xFlags, xOptionsFromFlags, type XFlagValues } from './x/flags.js';
export type { XCredentials, XSandbox } from './x/handle.js';
export type { LimitedRoute, Limits } from './x/limits/table.js';
export type { XSandboxOptions } from './x/options.js';
export type { Landmarks } from './x/population/landmarks.js';
export { startXSandbox } from './x/start.js';
