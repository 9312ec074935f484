/**
 * Local imitations of upstream APIs, with the real wire formats and fault injection.
 *
 * @module
 */
export type { DrawBy, Fault } from './faults/injector.js';
export { fastFaults, type FaultKind } from './faults/kinds.js';
export type { Latency, LatencyShape } from './faults/rules.js';
export type { FaultRule, RetryAfter } from './faults/rules.js';
export { faultFromText, latencyFromText } from './faults/rules.js';
export { UsageError } from './faults/rules.js';
export {
  githubFlags,
  githubOptionsFromFlags,
  llmFlags,
  llmOptionsFromFlags,
  stacFlags,
  stacOptionsFromFlags,
  xFlags,
  xOptionsFromFlags,
  type Flag,
  type FlagValues,
} from './flags.js';
export type { AppCredentials, TokenOptions } from './github/auth.js';
export type { GithubLandmarks } from './github/populate.js';
export {
  startGithubSandbox,
  type GithubAct,
  type GithubCommit,
  type GithubSandbox,
  type GithubSandboxOptions,
} from './github/sandbox.js';
export type { Counts, LogEntry, LogQuery, Outcome } from './server/log.js';
export { openSandbox, type Sandbox } from './server/sandbox.js';

export type { AssetFacts, AssetBehaviour } from './stac/assets.js';
export type { Flavour } from './stac/flavours.js';
export type { Traits } from './stac/flavours.js';
export type { StacSandboxOptions } from './stac/sandbox.js';
export { startStacSandbox, type StacSandbox } from './stac/sandbox.js';

export type { Tier } from './x/api/call.js';
export type { OAuthScope } from './x/auth/tokens.js';
export type { IssuedTokens, IssueOptions } from './x/auth/tokens.js';
export type { Clock } from './server/clock.js';
export type { Act, Commit, CommitQuery } from './x/commits.js';
export type { XCredentials, XSandbox } from './x/sandbox.js';
export type { LimitedRoute, Limits } from './x/limits.js';
export type { XSandboxOptions } from './x/sandbox.js';
export type { NamedRecords } from './x/population/populate.js';
export { startXSandbox } from './x/sandbox.js';

export { startLlmSandbox, type LlmSandbox, type LlmSandboxOptions } from './llm/sandbox.js';
