import { stat } from 'node:fs/promises';
import { faultToError as defaultToolError } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { classify, ConfigError } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import type { ReadContext } from '../api/provider.js';
import { routes, toolRoutes, workflowOnly } from '../api/routes.js';
import { checkWritable } from '../auth/login-file.js';
import type { XConfig } from '../config.js';
import { faultToError, noCredential } from '../faults.js';
import { sizeLimits, supportedTypes } from '../media/file.js';
import { enterpriseOnly } from '../tier.js';
import {
  getCapabilitiesSpec,
  getConfigSpec,
  getRateLimitsSpec,
  healthCheckSpec,
  validateConfigSpec,
} from './specs/about.js';
import { aboutTool } from './tool.js';

export const aboutTools = (client: Client) => [
  aboutTool(getCapabilitiesSpec, client, () => capabilities(client)),
  aboutTool(healthCheckSpec, client, ({ probe }, call) => checkHealth(client, call, probe)),
  aboutTool(getConfigSpec, client, async () => ({ config: redacted(client.config) })),
  aboutTool(validateConfigSpec, client, async () => {
    const findings = await validate(client);
    return { valid: findings.every(({ severity }) => severity !== 'error'), findings };
  }),
  aboutTool(getRateLimitsSpec, client, async () => ({
    limits: client.windows.list(client.clock.wallNow()).map(({ info, login: _, ...about }) => ({
      ...about,
      ...(!info.limitUnknown && { limit: info.limit }),
      remaining: info.remaining,
      reset: new Date(info.reset * 1000).toISOString(),
    })),
  })),
];

/** Which tools the account can use, and why the others are unavailable. */
async function capabilities(client: Client) {
  const { config, session, prices } = client;
  const scopes = (await session.user?.scopes().catch(() => undefined)) ?? null;
  const isLoggedIn = await hasLogin(client);
  // Without a workflow, this server does not have its tools.
  const names = Object.keys(toolRoutes).filter(
    (name) => client.workflow !== undefined || !workflowOnly.has(name),
  );
  const tools = names.map((name) => {
    const reason = unavailableReason(name, client, isLoggedIn, scopes);
    return reason === undefined ? { name, available: true } : { name, available: false, reason };
  });
  return {
    account: config.account,
    tier: config.tier,
    logged_in: isLoggedIn,
    app_token: session.app !== undefined,
    scopes,
    max_post_length: config.maxPostLength,
    media: {
      enabled: config.mediaDirectories.length > 0,
      types: supportedTypes,
      max_bytes: sizeLimits,
    },
    tools,
    prices,
  };
}

/** The configured login file can be missing, or hold an expired login. */
async function hasLogin({ session: { user } }: Client): Promise<boolean> {
  if (!user) return false;
  return user.scopes().then(
    () => !user.isExpired(),
    () => false,
  );
}

function unavailableReason(
  tool: string,
  { config, session }: Client,
  isLoggedIn: boolean,
  scopes: readonly string[] | null,
): string | undefined {
  const used = (toolRoutes[tool] ?? []).map((name) => routes[name]);
  const needsLogin = used.some(({ auth }) => auth === 'user');
  if (!isLoggedIn && (needsLogin || !session.app)) {
    return needsLogin ? 'requires a user login' : 'requires a login or an app token';
  }
  if (config.tier !== 'enterprise' && enterpriseOnly[tool] !== undefined) {
    return 'requires the enterprise tier of X';
  }
  if (tool === 'x_upload_media' && config.mediaDirectories.length === 0) {
    return 'mediaDirectories is empty';
  }
  const missing = scopes
    ? used.flatMap((route) => route.scopes).filter((scope) => !scopes.includes(scope))
    : [];
  return missing.length === 0
    ? undefined
    : `the login lacks the scopes ${[...new Set(missing)].join(', ')}`;
}

/** A success this recent replaces the probe, which X charges for. */
const FRESH_MS = 60_000;

/** Whether X can be used now. Never throws. */
export async function checkHealth(client: Client, context: ReadContext, probe: boolean) {
  const { session, clock, windows, upstream } = client;
  const configured = session.app !== undefined || (session.user?.exists() ?? false);
  const wallNow = clock.wallNow();
  const isFresh = wallNow - (session.lastSuccessAt ?? -Infinity) < FRESH_MS;
  const problem = !configured
    ? healthProblem(noCredential())
    : probe && !isFresh
      ? await probeUpstream(client, context)
      : null;
  const { lastSuccessAt } = session;
  return {
    ok: problem === null && upstream.circuit !== 'open',
    configured,
    problem,
    last_success_at: lastSuccessAt === undefined ? null : new Date(lastSuccessAt).toISOString(),
    circuit: upstream.circuit,
    exhausted_limits: windows.list(wallNow).filter(({ info }) => info.remaining <= 0).length,
  };
}

/** An app token has no account of its own, so the probe reads a public one. */
const PROBE_USERNAME = 'XDevelopers';

async function probeUpstream(client: Client, context: ReadContext) {
  try {
    const { provider, session } = client;
    await (session.user?.exists()
      ? provider.getMe(undefined, context)
      : provider.getUserByUsername({ username: PROBE_USERNAME }, context));
    return null;
  } catch (cause) {
    const problem = healthProblem(cause);
    // X answered and accepted the credential.
    return problem.code === 'not_found' ? null : problem;
  }
}

function healthProblem(cause: unknown): { readonly code: string; readonly message: string } {
  const fault = cause instanceof FaultError ? cause.fault : classify(cause);
  const { code, message } = (faultToError(fault) ?? defaultToolError(fault))?.input ?? {
    code: 'internal_error',
    message: 'The request to X failed.',
  };
  return { code, message };
}

const SECRETS = ['bearerToken', 'accessToken', 'clientSecret'] as const;

/** The effective settings, without secrets and without passwords in URLs. */
function redacted(config: XConfig): Readonly<Record<string, unknown>> {
  const { baseUrl, authorizeUrl, ...rest } = config;
  const shown = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !SECRETS.includes(name as never)),
  );
  const isSet = SECRETS.map((name) => [name, config[name] ? '[set]' : '[not set]'] as const);
  return {
    baseUrl: withoutPassword(baseUrl),
    authorizeUrl: withoutPassword(authorizeUrl),
    ...Object.fromEntries(isSet),
    ...shown,
  };
}

function withoutPassword(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

interface Finding {
  readonly severity: 'error' | 'warning';
  readonly setting: string;
  readonly message: string;
}

const EXPIRED = 'the login has expired and cannot be renewed: run `toolkeel login x`';

/** Checks the settings against files and credentials; the schema has already checked their shape. */
async function validate(client: Client): Promise<readonly Finding[]> {
  const { config, session } = client;
  const findings: Finding[] = [];
  const error = (setting: string, message: string) =>
    findings.push({ severity: 'error', setting, message });
  const warning = (setting: string, message: string) =>
    findings.push({ severity: 'warning', setting, message });

  const hasLoginFile = session.user?.exists() ?? false;
  if (!session.app && !session.user)
    error('accessToken', 'neither a login nor an app token is set');
  else if (session.app && !hasLoginFile)
    warning('tokenFile', 'without a login only public reads are possible');
  else findings.push(...(await loginFindings(client)));
  const { protocol, hostname } = new URL(config.baseUrl);
  if (protocol === 'http:' && !/^(?:127\.|localhost$|\[::1\]$)/.test(hostname)) {
    warning('baseUrl', 'is not https: tokens are sent unencrypted');
  }
  for (const folder of config.mediaDirectories) {
    const isFolder = await stat(folder).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    if (!isFolder) error('mediaDirectories', `${folder} is not a folder`);
  }
  if (config.accessToken && config.tokenFile !== undefined) {
    warning('tokenFile', 'is not used, because accessToken is set');
  }
  return findings;
}

async function loginFindings({ config, session }: Client): Promise<readonly Finding[]> {
  const { accessToken, tokenFile } = config;
  const error = (message: string): Finding => ({
    severity: 'error',
    setting: 'tokenFile',
    message,
  });
  const problem = await session.user?.scopes().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (problem !== undefined) return [error(messageOf(problem))];
  const notWritable =
    accessToken || tokenFile === undefined ? undefined : await checkWritable(tokenFile);
  return [
    ...(session.user?.isExpired() ? [error(EXPIRED)] : []),
    ...(notWritable ? [error(notWritable.message)] : []),
  ];
}

/** Other errors can quote a secret. */
function messageOf(problem: unknown): string {
  const isSafe = problem instanceof ConfigError;
  return isSafe ? problem.message : 'cannot be used';
}
