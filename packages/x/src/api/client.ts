import type { PackDeps, PackWorkflow, TextModel } from '@toolkeel/contract';
import { presets, type Clock, type Upstream } from '@toolkeel/kernel';
import {
  createConnections,
  createHttpClient,
  createRedactor,
  policyOf,
  RateWindows,
  type Environment,
} from '@toolkeel/pack-kit';
import { createCredentials } from '../auth/credentials.js';
import { pricesOf, type Prices, type XConfig } from '../config.js';
import { SHORT_WINDOW } from '../faults.js';
import { guardWorkflow } from '../workflow/access.js';
import { createAccount, type Account } from './account.js';
import { retrying, type SocialReadProvider } from './provider.js';
import { createRequests, type Requests } from './requests.js';
import { routes } from './routes.js';
import { Session, type LimitScope, type XRequest } from './session.js';
import { faultOfResponse } from './upstream-problem.js';
import { xProvider } from './x-provider.js';

/** What the tools of one configured account share. */
export interface Client {
  readonly config: XConfig;
  readonly session: Session;
  readonly provider: SocialReadProvider;
  readonly requests: Requests;
  readonly account: Account;
  readonly windows: RateWindows<LimitScope>;
  readonly prices: Prices;
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** Records, operations and calls; undefined outside of the workflow profile. */
  readonly workflow: PackWorkflow | undefined;
  /** Undefined if none is configured. */
  readonly model: TextModel | undefined;
  readonly random: () => number;
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
  const policy = policyOf(presets.social, config);
  const connections = createConnections(policy.attemptTimeoutMs!);
  const baseUrl = new URL(config.baseUrl);
  const wallNow = (): number => clock.wallNow();
  const secrets = createRedactor({ ...(deps.secret && { onSecret: deps.secret }) });
  const credentials = createCredentials(config, { ...deps, connections, secrets, wallNow });
  const windows = new RateWindows<LimitScope>(
    SHORT_WINDOW,
    ({ credential, login }) => login === credentials[credential]?.login(),
  );
  const session = new Session({ ...credentials, baseUrl, windows, wallNow });
  const http = createHttpClient<XRequest>({
    name: 'x',
    policy,
    deps,
    clock,
    connections,
    secrets,
    trusted: [baseUrl],
    maxBytes: config.maxResponseBytes,
    // A redirect could send the credential to another host; X sends none.
    maxRedirects: 0,
    faultOf: faultOfResponse,
    intercept: session.intercept,
    // All requests use the same login.
    refreshAuth: (signal) => session.renew(routes.createPost, signal),
  });
  const shared = http.upstreamOf(baseUrl);
  const provider = retrying(xProvider(session, http, config.spelling), {
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
    requests: createRequests(session, http),
    account: createAccount(config.account, session, provider, clock),
    windows,
    prices: pricesOf(config.prices),
    upstream: shared,
    clock,
    workflow: deps.workflow && guardWorkflow(deps.workflow),
    model: deps.model,
    random,
    capMs: config.toolTimeoutSecs * 1000,
    close: async () => {
      await session.user?.close();
      await http.close();
    },
  };
}
