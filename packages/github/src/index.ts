/**
 * GitHub for agents: a client that never writes twice and keeps to GitHub's limits, and MCP tools on it.
 *
 * @module
 */
// The client's decisions, as pure functions.
export {
  calculateBackoff,
  calculateRateLimitDelay,
  checkRateLimit,
  definePolicy,
  executeWithRetry,
  parseRateLimitHeaders,
  shouldRetry,
  type RateLimitInfo,
  type RetryDecision,
  type RetryPolicy,
} from '@toolkeel/kernel';
export { apiError, apiErrorKind, type ApiErrorKind } from './client/api-error.js';

export { GitHubClient } from './client/client.js';
export { InstallationClient } from './client/installation.js';
export type {
  Call,
  CheckRun,
  GitHubClientOptions,
  GitHubResponse,
  GraphqlResponse,
  Parameters,
  PlainCall,
  RequestOptions,
} from './client/request.js';
export {
  createTokenCache,
  type InstallationOptions,
  type TokenCache,
} from './client/credentials.js';
export { GitHubError, githubErrorOf, type FieldError } from './client/faults.js';
export { graphqlOperations, isReadOnly } from './client/graphql-operation.js';
export {
  documentedPacing,
  type BudgetStatus,
  type GateStatus,
  type Pacing,
} from './client/limits.js';
export { hasMarker, withMarker, withoutMarkers } from './client/markers.js';

export { configFromEnvironment, configSchema, type GitHubConfig } from './config.js';
export { createGitHubPack, github, type RuntimeContext } from './pack.js';
