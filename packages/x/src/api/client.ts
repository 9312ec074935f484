import type { PackDeps } from '@toolkeel/contract';
import {
  definePolicy,
  presets,
  upstream,
  type Clock,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import { createRedactor } from '@toolkeel/pack-kit';
import { createCredentials } from '../auth/credentials.js';
import { pricesOf, type Environment, type Prices, type XConfig } from '../config.js';
import { createConnections } from '../http/connections.js';
import { RateWindows } from '../rate-limits.js';
import { createAccount, type Account } from './account.js';
import { retrying, type SocialReadProvider } from './provider.js';
import { createRequests, type Requests } from './requests.js';
import { routes } from './routes.js';
import { Session } from './session.js';
import { xProvider } from './x-provider.js';

/** What the tools of one configured account share. */
export interface Client {
  readonly config: XConfig;
  readonly session: Session;
  readonly provider: SocialReadProvider;
  readonly requests: Requests;
  readonly account: Account;
  readonly windows: RateWindows;
  readonly prices: Prices;
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** The longest that a call may take. */
  readonly capMs: number;
  readonly close: () => Promise<void>;
}

interface ClientDeps extends PackDeps {
  readonly env: Environment;
  readonly clock: Clock;
}

export function createClient(config: XConfig, deps: ClientDeps): Client {
  const { clock, random, observe } = deps;
  const policy = policyOf(config);
  const connections = createConnections(policy.attemptTimeoutMs!);
  const baseUrl = new URL(config.baseUrl);
  const wallNow = (): number => clock.wallNow();
  const secrets = createRedactor({ ...(deps.secret && { onSecret: deps.secret }) });
  const credentials = createCredentials(config, { ...deps, connections, secrets, wallNow });
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
    windows,
    prices: pricesOf(config.prices),
    upstream: shared,
    clock,
    capMs: config.toolTimeoutSecs * 1000,
    close: async () => {
      await session.user?.close();
      await connections.close();
    },
  };
}

/** The `social` preset with the configured numbers. An attempt cannot take longer than the call. */
function policyOf({ maxRetries, toolTimeoutSecs, attemptTimeoutSecs }: XConfig): ResiliencePolicy {
  const callTimeoutMs = toolTimeoutSecs * 1000;
  return definePolicy({
    ...presets.social,
    maxRetries,
    callTimeoutMs,
    attemptTimeoutMs: Math.min(attemptTimeoutSecs * 1000, callTimeoutMs),
  });
}
