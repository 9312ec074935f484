export { createHost, type Host, type HostOptions } from './host.js';
export { HostError } from './errors.js';
export type { PackEntry } from './catalog/loaded-pack.js';

export type { HostMiddleware } from './call/around.js';
export type { JournalDeps } from './govern/journal-hooks.js';
export { decideAsWorkflow, decideBy } from './govern/decide.js';
export type { OperatorJournal } from './govern/desk.js';
export { hostToolSpecs } from './govern/host-tools.js';
export {
  openGovernance,
  type Governance,
  type GovernanceOptions,
} from './govern/open-governance.js';
export { POLICY_SECTIONS } from './config/governing.js';
export { hasRules } from './govern/compile-policy.js';
export { FilterError, operationFilter, readMoment } from './govern/filter.js';
export {
  isPersistent,
  journalAddress,
  journalFile,
  openJournalStore,
} from './govern/open-store.js';
export { undecided } from './govern/undecided.js';
export type { CallScope, RequestMeta } from './call/scope.js';
export type { Raw, RawPrompt, RawResource, RawTool } from './mcp/raw.js';

export type { StdioHandle, StdioOptions } from './stdio/serve.js';
export type { HttpHandle, HttpOptions } from './http/serve.js';
export type { ApiOptions, OperatorApi } from './govern/api/api.js';
export type { Timeouts } from './http/listen.js';

export { createLog, type Log, type LogOptions } from './log/create-log.js';
export { prettyLines } from './log/pretty.js';
export { LOG_LEVELS, type HostLog, type LogLevel } from './log/log.js';
export { Secret } from './secret/secret.js';
export {
  consoleTokenFile,
  persistentConsoleToken,
  ephemeralConsoleToken,
} from './secret/console-token.js';
export { Secrets } from './secret/secrets.js';
export { persistentPageTokens } from './secret/kept-tokens.js';
export { didYouMean, closestMatches } from '@toolkeel/pack-kit';
export { ConfigError, type ConfigIssue } from './config/config-error.js';
export type { Environment } from './config/environment.js';
export type { Credential } from './config/find-secrets.js';
export { configJsonSchema } from './config/json-schema.js';
export {
  CONFIG_FILE,
  configuredPacks,
  settingsWithoutSecrets,
  type FileOptions,
} from './config/file.js';
export {
  loadConfig,
  type LoadedConfig,
  type LoadOptions,
  type Mistake,
  type NotifySettings,
  type PackBinding,
} from './config/load.js';
export type { Config, SchemaOptions, SectionName } from './config/schema.js';
export { secretInUrl, type UrlSecret } from './config/secret-in-url.js';
export { secretSource, type SecretSource } from './config/secret-source.js';
