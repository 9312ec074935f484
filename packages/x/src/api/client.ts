import type { PackDeps } from '@toolkeel/contract';
import { presets, type Clock, type Effect } from '@toolkeel/kernel';
import {
  createConnections,
  createHttpClient,
  createRedactor,
  policyOf,
  RateWindows,
  type Environment,
  type WriteContext,
} from '@toolkeel/pack-kit';
import { createCredentials } from '../auth/credentials.js';
import { pricesOf, type XConfig } from '../config.js';
import { SHORT_WINDOW } from '../faults.js';
import { guardWorkflow } from '../workflow/access.js';
import { createAccount } from './account.js';
import { retrying } from './provider.js';
import { routes } from './routes.js';
import {
  createSession,
  xResponseOf,
  type ApiRequest,
  type LimitScope,
  type XRequest,
} from './session.js';
import { faultOfResponse } from './upstream-problem.js';
import { xProvider } from './x-provider.js';

/** What the tools of one configured account share. */
export type Client = ReturnType<typeof createClient>;

interface ClientDeps extends PackDeps {
  readonly env: Environment;
  readonly clock: Clock;
  readonly readBackMs: number;
}

export function createClient(config: XConfig, deps: ClientDeps) {
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
  const session = createSession({ ...credentials, baseUrl, windows, wallNow });
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
  const send = (effect: Effect) => async (request: ApiRequest, call: WriteContext) =>
    xResponseOf(await http[effect](session.httpRequest(request), call));
  const shared = http.upstreamOf(baseUrl);
  const provider = retrying(xProvider(session, http, config.spelling), {
    policy,
    upstream: shared,
    clock,
    random,
    observe,
    routeOf: (method) => session.limitKey(routes[method]),
    renew: (method, signal) => session.renew(routes[method], signal),
  });
  return {
    config,
    session,
    provider,
    requests: { read: send('read'), idempotent: send('idempotent'), once: send('once') },
    account: createAccount(config.account, session, provider, clock),
    windows,
    prices: pricesOf(config.prices),
    upstream: shared,
    clock,
    /** Records, operations and calls; undefined outside of the workflow profile. */
    workflow: deps.workflow && guardWorkflow(deps.workflow),
    /** The language model; undefined if none is configured. */
    model: deps.model,
    random,
    /** The longest that a call may take. */
    capMs: config.toolTimeoutSecs * 1000,
    /** How long a call searches for a post with an unknown outcome. */
    readBackMs: deps.readBackMs,
    close: async () => {
      await session.user?.close();
      await http.close();
    },
  };
}
