export { createHost, type Host, type HostOptions } from './host.js';
export {
  createServer,
  type ListeningServer,
  type ListenOptions,
  type Server,
  type ServerOptions,
} from './server/create-server.js';
export { openServer, type OpenedServer, type OpenOptions } from './server/open.js';
export { ConfigError, HostError, type ConfigIssue } from './errors.js';
export { specProblem, type PackEntry } from './catalog/loaded-pack.js';
export type { HostMiddleware } from './call/middleware.js';
export type { CallContext, RequestMeta } from './call/running-call.js';
export type { Raw, RawPrompt, RawResource, RawTool } from './mcp/raw.js';

export {
  decideAsWorkflow,
  hostToolSpecs,
  openGovernance,
  type Governance,
  type GovernanceOptions,
} from './governance/governance.js';
export { decideBy, hasRules } from './governance/policy.js';
export type { JournalDeps } from './governance/journal.js';
export {
  explainConflict,
  FilterError,
  operationFilter,
  readMoment,
  type OperatorJournal,
} from './governance/operator.js';
export { consoleServers, type ConsoleServer } from './console/servers.js';
export type { Console, ConsoleExtras, ConsoleHost, ConsoleOptions } from './console/console.js';
export { isPersistent, journalAddress, journalFile, openJournalStore } from './governance/store.js';

export { guardStdout, type StdioHandle, type StdioOptions } from './stdio/serve.js';
export type { Timeouts } from './http/listen.js';
export type { HttpHandle, HttpOptions } from './http/serve.js';

export {
  createLog,
  LOG_LEVELS,
  type HostLog,
  type Log,
  type LogLevel,
  type LogOptions,
} from './log/log.js';
export { prettyLines } from './log/pretty.js';
export { Secret, Secrets } from './secret/secrets.js';
export { readSecretFile, type SecretFile } from './secret/key-files.js';
export {
  consoleTokenFile,
  ephemeralConsoleToken,
  persistentConsoleToken,
  persistentPageTokens,
} from './secret/key-files.js';
export {
  closestMatches,
  didYouMean,
  secretSource,
  type SecretSource,
} from '@toolkeel/pack-kit/base';

export type { Mistake } from './config/explain.js';
export {
  CONFIG_FILE,
  configuredPacks,
  packSettings,
  type ConfiguredPack,
  type FileOptions,
} from './config/file.js';
export { pointerOf } from './config/layers.js';
export {
  environmentSecrets,
  isSecretParameter,
  secretInUrl,
  type Credential,
  type UrlSecret,
} from './config/find-secrets.js';
export type { Environment } from './config/layers.js';
export {
  loadConfig,
  type LoadedConfig,
  type LoadOptions,
  type PackBinding,
} from './config/load.js';
export type { NotifySettings } from './config/options.js';
export {
  configJsonSchema,
  POLICY_SECTIONS,
  type Config,
  type SchemaOptions,
  type SectionName,
} from './config/schema.js';
