import { type ContentFault, refusalFaults } from '../faults/kinds.js';
import {
  createRouter,
  type Route,
  type RouteContext,
  type Exchange,
  type Upstream,
} from '../server/upstream.js';
import type { JsonObject } from '../json.js';
import { hash } from '../random.js';
import type { Tier, XApi } from './api/call.js';
import { checkedQuery } from './api/input.js';
import { appToken, authorize, type Oauth, revoke, token, type Witness } from './auth/oauth.js';
import type { Caller, Tokens } from './auth/tokens.js';
import {
  blank,
  forbidden,
  type Names,
  refusal,
  unauthorized,
  unsupportedAuthentication,
  XProblem,
} from './problems.js';
import { type ApiRoute, apiRoutes, type Entry } from './routes.js';
import { type Account, spentHeaders, type Windows } from './limits.js';

const contentFaults: readonly ContentFault[] = [
  ...refusalFaults,
  'loop-next',
  'empty-page',
  'x-media-fails',
  'x-consent-denied',
];

const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

function respond(
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const type = body['type'] === 'about:blank' ? PROBLEM_TYPE : JSON_TYPE;
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': type, ...headers },
  });
}

/** What stands at the head of every answer, for support to ask about. */
function signature(
  exchange: { readonly request: number },
  now: number,
  caller?: Caller,
): Record<string, string> {
  const id = hash('transaction', exchange.request).toString(16).padStart(8, '0');
  const mayWrite = caller?.kind === 'user' && caller.scopes.includes('tweet.write');
  return {
    // By the clock that everything else goes by: a client may compare the two.
    date: new Date(now).toUTCString(),
    'api-version': '2.167',
    'x-transaction-id': id + hash('more', exchange.request).toString(16).padStart(8, '0'),
    'x-response-time': '12',
    ...(caller && { 'x-access-level': mayWrite ? 'read-write' : 'read' }),
  };
}

export function xUpstream(api: XApi, keeper: Gatekeeper, oauth: Oauth): Upstream {
  const answer = async (route: ApiRoute, context: RouteContext): Promise<Response> => {
    const { env: exchange, req } = context;
    let told: Record<string, string> = signature(exchange, keeper.now());
    try {
      const caller = identify(keeper, req.raw, route);
      const { allowed, headers } = count(keeper, route, caller);
      told = { ...signature(exchange, keeper.now(), caller), ...headers };
      if (!allowed) throw new XProblem(429, blank(429));
      admit(keeper, route, caller, exchange);
      const query = checkedQuery(req.url, route.query);
      const param = (name: string): string => req.param(name) ?? '';
      const form = (): Promise<FormData> => req.formData();
      const call = { route: route.name, caller, param, query, request: req.raw, form, exchange };
      const { status = 200, body, charges = [] } = await route.handle(api, call);
      for (const [charge, times] of charges) if (times > 0) api.account.charge(charge, times);
      return respond(status, body, told);
    } catch (cause) {
      if (!(cause instanceof XProblem)) throw cause;
      return respond(cause.status, cause.body, { ...told, ...cause.headers });
    }
  };

  const witness =
    ({ env }: RouteContext): Witness =>
    (act, account) => {
      api.commits.append(act, { at: keeper.now(), request: env.request, account });
    };
  const oauthRoutes: readonly Route[] = [
    {
      name: 'authorize',
      method: 'GET',
      path: '/i/oauth2/authorize',
      handle: ({ env, req }) => {
        const denied = env.inject('x-consent-denied') !== undefined;
        return authorize(oauth, new URL(req.url).searchParams, denied);
      },
    },
    ...(
      [
        ['token', '/2/oauth2/token', token],
        ['revoke', '/2/oauth2/revoke', revoke],
        ['app-token', '/oauth2/token', appToken],
      ] as const
    ).map(([name, path, handle]): Route => ({
      name,
      method: 'POST',
      path,
      handle: (context) => handle(oauth, context.req.raw, witness(context)),
    })),
  ];

  const { app, names, routeOf, methodsOf } = createRouter([
    ...apiRoutes.map((route): Route => ({
      ...route,
      handle: (context) => answer(route, context),
    })),
    ...oauthRoutes,
  ]);
  app.notFound(({ env, req }) =>
    methodsOf(req.path).length > 0
      ? respond(405, blank(405), signature(env, keeper.now()))
      : respond(404, blank(404), signature(env, keeper.now())),
  );
  app.onError((_cause, { env }) => respond(500, blank(500), signature(env, keeper.now())));
  return {
    routes: names,
    contentFaults,
    routeOf,
    handle: (request, exchange) => app.fetch(request, exchange),
    outageBody: (status) => ({ type: PROBLEM_TYPE, text: JSON.stringify(blank(status)) }),
  };
}

export interface Gatekeeper {
  readonly tokens: Tokens;
  readonly windows: Windows;
  readonly account: Account;
  readonly names: Names;
  readonly tier: () => Tier;
  readonly now: () => number;
}

const supported: Readonly<Record<Entry, readonly string[]>> = {
  any: ['OAuth 1.0a User Context', 'OAuth 2.0 Application-Only', 'OAuth 2.0 User Context'],
  user: ['OAuth 1.0a User Context', 'OAuth 2.0 User Context'],
  oauth2: ['OAuth 2.0 User Context'],
  app: ['OAuth 2.0 Application-Only'],
};

/** Who it is. A token that is unknown or too old is as good as none. */
function identify({ tokens }: Gatekeeper, request: Request, { entry }: ApiRoute): Caller {
  const [scheme, token = ''] = (request.headers.get('authorization') ?? '').split(' ');
  const caller = scheme?.toLowerCase() === 'bearer' ? tokens.callerOf(token) : undefined;
  if (!caller) throw unauthorized();
  const isWrong = caller.kind === 'app' ? entry === 'user' || entry === 'oauth2' : entry === 'app';
  if (isWrong) {
    const used = caller.kind === 'app' ? 'OAuth 2.0 Application-Only' : 'OAuth 2.0 User Context';
    throw new XProblem(403, unsupportedAuthentication(used, supported[entry]));
  }
  return caller;
}

/** Counts the request. The answer's headers are known from here on, also if it is a refusal. */
function count(
  { windows }: Gatekeeper,
  route: ApiRoute,
  caller: Caller,
): ReturnType<Windows['take']> {
  const who = { app: caller.clientId, ...(caller.kind === 'user' && { user: caller.userId }) };
  return windows.take(route.name, who);
}

/** Whatever stands between somebody who is known and what they ask for. */
function admit(keeper: Gatekeeper, route: ApiRoute, caller: Caller, exchange: Exchange): void {
  const { names, account, tier } = keeper;
  refuseOnCommand(keeper, exchange);
  const lacking =
    caller.kind === 'user' && route.scopes.some((one) => !caller.scopes.includes(one));
  if (lacking) throw forbidden('Forbidden');
  if (route.enterprise && tier() !== 'enterprise')
    throw refusal('x-403-client-not-enrolled', names);
  if (account.credits() <= 0) throw refusal('x-402-credits', names);
  if (route.method === 'GET' && account.isCapped()) throw refusal('x-429-usage-cap', names);
}

const QUARTER_HOUR = 15 * 60;
const DAY = 24 * 60 * 60;

function refuseOnCommand({ names, now }: Gatekeeper, exchange: Exchange): void {
  const kind = refusalFaults.find((one) => exchange.drawn(one));
  const fault = kind && exchange.inject(kind);
  if (!kind || !fault) return;
  const told =
    fault.retryAfter && 'seconds' in fault.retryAfter ? fault.retryAfter.seconds : undefined;
  const resetIn = (usual: number): number => now() + (told ?? usual) * 1000;
  const headers =
    kind === 'x-429-day'
      ? spentHeaders('day', resetIn(DAY))
      : kind === 'x-429-window' || kind === 'x-429-legacy'
        ? spentHeaders('window', resetIn(QUARTER_HOUR))
        : {};
  throw refusal(kind, names, headers);
}
