import { readFileSync, statSync } from 'node:fs';
import type { PackDeps, PackHealth, PackInstance } from '@toolkeel/contract';
import { FaultError, presets, systemClock } from '@toolkeel/kernel';
import {
  BoundedMap,
  causeOf,
  compact,
  ConfigError,
  createHealthCheck,
  policyOf,
  requirePrivateFile,
  type CallContext,
  type Environment,
} from '@toolkeel/pack-kit';
import { GitHubClient } from './client/client.js';
import { InstallationClient } from './client/installation.js';
import type { GitHubClientOptions } from './client/request.js';
import { configSchema, isConfigured, readToken, type GitHubConfig } from './config.js';
import { permissionReport, toolNames, type PermissionReport } from './permissions.js';
import { commitTool } from './tools/commit.js';
import { createTools } from './tools/create.js';
import { createIdentity, type Kit } from './tools/kit.js';
import { actionReadTools, pullReadTools } from './tools/pull-reads.js';
import { pullWriteTools } from './tools/pull-writes.js';
import { readTools } from './tools/read.js';
import { actionWriteTools, updateTools } from './tools/update.js';

/** More than the pages that agents continue at a time. */
const MAX_PAGES = 32;
/** More than the operations whose outcome is open at a time. */
const MAX_OPERATIONS = 1000;

export function createInstance(
  config: GitHubConfig,
  deps: PackDeps,
  env: Environment,
): PackInstance {
  const client = clientOf(config, env, deps);
  const kit: Kit = {
    client,
    config,
    requireCredential: () => {
      if (config.app && !config.token) readKey(config, env);
      else readToken(config, env);
    },
    identity: createIdentity(client),
    pages: new BoundedMap(MAX_PAGES),
    commits: new BoundedMap(MAX_OPERATIONS),
  };
  const { toolsets } = config;
  const names = new Set(toolNames(toolsets));
  const tools = [
    ...readTools(kit),
    ...pullReadTools(kit),
    ...updateTools(kit),
    ...createTools(kit),
    commitTool(kit),
    ...pullWriteTools(kit),
    ...actionReadTools(kit),
    ...actionWriteTools(kit),
  ];
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    health: createHealthCheck(deps.now, (call) => health(kit, call)),
    upstreams: () => client.upstreams,
    close: () => client.close(),
  };
}

/** The client of the configured credential: the token, else the App. */
function clientOf(config: GitHubConfig, env: Environment, deps: Partial<PackDeps>): GitHubClient {
  const options: GitHubClientOptions = {
    baseUrl: config.baseUrl,
    policy: policyOf(presets.github, config),
    pacing: compact(config.pacing),
    apiVersion: config.apiVersion,
    maxBytes: config.maxResponseBytes,
    trustedOrigins: config.trustedOrigins,
    deps,
    clock: deps.now ? { ...systemClock, now: deps.now } : systemClock,
  };
  const { app } = config;
  if (!app || config.token)
    return new GitHubClient({ ...options, token: () => readToken(config, env) });
  const { id: appId, installationId, permissions, repositories } = app;
  const privateKey = () => readKey(config, env);
  return new InstallationClient({
    ...options,
    appId,
    installationId,
    permissions,
    repositories,
    privateKey,
  });
}

/** A PEM has line breaks, which no secret for a header may have. */
function readKey({ app }: GitHubConfig, env: Environment): string {
  const source = app?.privateKey ?? { env: '' };
  const setting = 'packs.github.app.privateKey';
  const isFile = 'file' in source;
  const value = isFile ? readKeyFile(source.file, setting) : env[source.env];
  if (value !== undefined && value.trim() !== '') return value;
  const where = isFile ? `the file ${source.file}` : `the variable ${source.env}`;
  throw new ConfigError(`${setting}: ${where} is empty or does not exist`);
}

function readKeyFile(file: string, setting: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  requirePrivateFile(file, stat, setting);
  return readFileSync(file, 'utf8');
}

async function health(
  { client, config, requireCredential }: Kit,
  call: CallContext,
): Promise<PackHealth> {
  const { account } = config;
  if (!isConfigured(config))
    return { ok: false, detail: `${account}: no credential is configured`, configured: false };
  try {
    requireCredential();
    await permissionReport(client, [], call);
    return { ok: true, detail: `${account}: ${client.baseUrl.host} answers` };
  } catch (cause) {
    if (cause instanceof ConfigError) return { ok: false, detail: `${account}: ${cause.message}` };
    const fault = cause instanceof FaultError ? cause.fault : undefined;
    const isRejected = fault?.kind === 'auth' || fault?.kind === 'rejected';
    const what = isRejected ? 'rejects the credential' : 'does not answer';
    return {
      ok: false,
      detail: `${account}: ${client.baseUrl.host} ${what}${causeOf(cause)}`,
      advice: isRejected
        ? 'Set a valid credential: packs.github.token or packs.github.app.'
        : 'Check packs.github.baseUrl and the network.',
    };
  }
}

const CHECK_TIMEOUT_MS = 10_000;

/** Which of the configured tools the credential does not allow. Undefined without a credential. */
export async function checkPermissions(
  settings: unknown,
  env: Environment = process.env,
): Promise<PermissionReport | undefined> {
  const config = configSchema.parse(settings);
  if (!isConfigured(config)) return undefined;
  const client = clientOf(config, env, {});
  try {
    return await permissionReport(client, toolNames(config.toolsets), {
      timeoutMs: CHECK_TIMEOUT_MS,
    });
  } finally {
    await client.close();
  }
}
