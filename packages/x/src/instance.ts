import type { PackDeps, PackHealth, PackInstance } from '@toolkeel/contract';
import {
  definePolicy,
  presets,
  systemClock,
  upstream,
  type Clock,
  type ResiliencePolicy,
} from '@toolkeel/kernel';
import { healthOf } from './about/health.js';
import { createAccount } from './api/account.js';
import type { Client } from './api/client.js';
import { routes } from './api/routes.js';
import { Session } from './api/session.js';
import { createRequests } from './api/requests.js';
import { createCredentials } from './auth/credentials.js';
import type { XConfig } from './config.js';
import { pricesOf } from './cost/prices.js';
import { createConnections } from './http/connections.js';
import { RateWindows } from './limits/windows.js';
import { sentPosts } from './posts/sent-posts.js';
import { retrying } from './provider/retrying.js';
import { xProvider } from './provider/x-provider.js';
import { createRedactor } from '@toolkeel/pack-kit';
import type { Environment } from './secrets.js';
import { createTools } from './tools/index.js';

export function createInstance(config: XConfig, deps: PackDeps, env: Environment): PackInstance {
  const clock: Clock = { ...systemClock, now: deps.now };
  const policy = policyOf(config);
  const connections = createConnections(policy.attemptTimeoutMs!);
  const client = createClient(config, { ...deps, env, clock, policy, connections });
  return {
    tools: createTools(client),
    health: () => packHealth(client),
    upstreams: () => [client.upstream],
    close: async () => {
      await client.session.user?.close();
      await connections.close();
    },
  };
}

const HEALTH_TIMEOUT_MS = 5_000;

async function packHealth(client: Client): Promise<PackHealth> {
  const scope = {
    deadline: client.clock.now() + HEALTH_TIMEOUT_MS,
    signal: new AbortController().signal,
    correlationId: 'health',
    noteRetry: () => undefined,
  };
  const { ok, configured, problem } = await healthOf(client, scope, true);
  const { account } = client.config;
  const detail = `${account}: ${problem?.message ?? 'answers'}`;
  if (!configured) return { ok, detail, configured };
  return problem?.code === 'x_auth_expired'
    ? { ok, detail, advice: renewalOf(client) }
    : { ok, detail };
}

/** A login is replaced by logging in; a token that was given has to be given anew. */
function renewalOf({ config, session }: Client): string {
  if (!config.accessToken && session.user?.isThere()) return 'Log in again: toolkeel login x';
  const name = config.accessToken ? 'accessToken' : 'bearerToken';
  return `Give packs.x.${name} a token that X accepts, or leave it out and log in: toolkeel login x`;
}

interface RuntimeContext extends PackDeps {
  readonly env: Environment;
  readonly clock: Clock;
  readonly policy: ResiliencePolicy;
  readonly connections: ReturnType<typeof createConnections>;
}

function createClient(config: XConfig, given: RuntimeContext): Client {
  const { clock, policy, connections, random, observe } = given;
  const baseUrl = new URL(config.baseUrl);
  const wallNow = (): number => clock.wallNow();
  const secrets = createRedactor({ ...(given.secret && { onSecret: given.secret }) });
  const credentials = createCredentials(config, { ...given, secrets, wallNow });
  const windows = new RateWindows((kind) => credentials[kind]?.login());
  const session = new Session({
    ...credentials,
    secrets,
    baseUrl,
    connections,
    windows,
    maxBytes: config.maxResponseBytes,
    wallNow,
  });
  const shared = upstream(baseUrl.host, policy);
  const provider = retrying(xProvider(session, config.spelling), {
    policy,
    upstream: shared,
    clock,
    random,
    observe,
    routeOf: (method) => session.limitKey(routes[method]),
    renew: (method, signal) => session.renew(routes[method], signal),
    explain: (method, fault) => session.explain(routes[method], fault),
  });
  return {
    config,
    session,
    provider,
    requests: createRequests({ session, policy, upstream: shared, clock, random, observe }),
    account: createAccount(config.account, session, provider, clock),
    sent: sentPosts(),
    windows,
    prices: pricesOf(config.prices),
    upstream: shared,
    clock,
    capMs: config.toolTimeoutSecs * 1000,
  };
}

/** The preset, with what the operator changed. One attempt cannot take longer than the call. */
function policyOf({ maxRetries, toolTimeoutSecs, attemptTimeoutSecs }: XConfig): ResiliencePolicy {
  const callTimeoutMs = toolTimeoutSecs * 1000;
  return definePolicy({
    ...presets.social,
    maxRetries,
    callTimeoutMs,
    attemptTimeoutMs: Math.min(attemptTimeoutSecs * 1000, callTimeoutMs),
  });
}
