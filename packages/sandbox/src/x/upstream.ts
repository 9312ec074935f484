import { type ContentFault, rejectionsOf } from '../faults/kinds.js';
import {
  createRouter,
  type Route,
  type RouteContext,
  type Exchange,
  type Upstream,
} from '../server/upstream.js';
import type { JsonObject } from '../json.js';
import { hash } from '../random.js';
import type { XState } from './api/call.js';
import { checkedQuery } from './api/input.js';
import { authorize, type OAuth, token } from './auth/oauth.js';
import type { Caller } from './auth/tokens.js';
import {
  blank,
  forbidden,
  rejection,
  unauthorized,
  unsupportedAuthentication,
  XProblem,
} from './problems.js';
import { type ApiRoute, apiRoutes, type AuthType } from './routes.js';
import { spentHeaders } from './limits.js';

const rejectionFaults = rejectionsOf('x');

const contentFaults: readonly ContentFault[] = [
  ...rejectionFaults,
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

/** The headers of every response. */
function commonHeaders(
  exchange: { readonly request: number },
  now: number,
  caller?: Caller,
): Record<string, string> {
  const id = hash('transaction', exchange.request).toString(16).padStart(8, '0');
  const mayWrite = caller?.kind === 'user' && caller.scopes.includes('tweet.write');
  return {
    // By the upstream's clock, because clients may compare it with reset times.
    date: new Date(now).toUTCString(),
    'api-version': '2.167',
    'x-transaction-id': id + hash('more', exchange.request).toString(16).padStart(8, '0'),
    'x-response-time': '12',
    ...(caller && { 'x-access-level': mayWrite ? 'read-write' : 'read' }),
  };
}

export function xUpstream(state: XState, oauth: OAuth): Upstream {
  const { now } = state.world.clock;
  const answer = async (route: ApiRoute, context: RouteContext): Promise<Response> => {
    const { env: exchange, req } = context;
    let headers: Record<string, string> = commonHeaders(exchange, now());
    try {
      const caller = authenticate(state, req.raw, route);
      const { allowed, headers: limits } = state.windows.take(route.name, credentialOf(caller));
      headers = { ...commonHeaders(exchange, now(), caller), ...limits };
      if (!allowed) throw new XProblem(429, blank(429));
      checkAccess(state, route, caller, exchange);
      const query = checkedQuery(req.url, route.query);
      const param = (name: string): string => req.param(name) ?? '';
      const form = (): Promise<FormData> => req.formData();
      const own = { route: route.name, caller, param, query, request: req.raw, form, exchange };
      const { status = 200, body, charges = [] } = await route.handle({ ...state, ...own });
      for (const [charge, times] of charges) if (times > 0) state.account.charge(charge, times);
      return respond(status, body, headers);
    } catch (cause) {
      if (!(cause instanceof XProblem)) throw cause;
      return respond(cause.status, cause.body, { ...headers, ...cause.headers });
    }
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
    {
      name: 'token',
      method: 'POST',
      path: '/2/oauth2/token',
      handle: ({ env, req }) =>
        token(oauth, req.raw, (act, account) => {
          state.commits.append(act, { at: now(), request: env.request, account });
        }),
    },
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
      ? respond(405, blank(405), commonHeaders(env, now()))
      : respond(404, blank(404), commonHeaders(env, now())),
  );
  app.onError((_cause, { env }) => respond(500, blank(500), commonHeaders(env, now())));
  return {
    routes: names,
    contentFaults,
    routeOf,
    handle: (request, exchange) => app.fetch(request, exchange),
    outageBody: (status) => ({ type: PROBLEM_TYPE, text: JSON.stringify(blank(status)) }),
  };
}

const supported: Readonly<Record<AuthType, readonly string[]>> = {
  any: ['OAuth 1.0a User Context', 'OAuth 2.0 Application-Only', 'OAuth 2.0 User Context'],
  user: ['OAuth 1.0a User Context', 'OAuth 2.0 User Context'],
  oauth2: ['OAuth 2.0 User Context'],
};

/** Authenticates the caller by its bearer token. */
function authenticate({ tokens }: XState, request: Request, { auth }: ApiRoute): Caller {
  const [scheme, bearer = ''] = (request.headers.get('authorization') ?? '').split(' ');
  const caller = scheme?.toLowerCase() === 'bearer' ? tokens.callerOf(bearer) : undefined;
  if (!caller) throw unauthorized();
  if (caller.kind === 'app' && auth !== 'any')
    throw new XProblem(
      403,
      unsupportedAuthentication('OAuth 2.0 Application-Only', supported[auth]),
    );
  return caller;
}

const credentialOf = (caller: Caller): { app: string; user?: string } => ({
  app: caller.clientId,
  ...(caller.kind === 'user' && { user: caller.userId }),
});

/** Checks scopes, tier and credits, after an injected rejection. */
function checkAccess(state: XState, route: ApiRoute, caller: Caller, exchange: Exchange): void {
  const { names, account, tier } = state;
  injectRejection(state, exchange);
  const lacking =
    caller.kind === 'user' && route.scopes.some((one) => !caller.scopes.includes(one));
  if (lacking) throw forbidden('Forbidden');
  if (route.enterprise && tier() !== 'enterprise')
    throw rejection('x-403-client-not-enrolled', names);
  if (account.credits() <= 0) throw rejection('x-402-credits', names);
}

const QUARTER_HOUR = 15 * 60;
const DAY = 24 * 60 * 60;

function injectRejection({ names, world }: XState, exchange: Exchange): void {
  const kind = rejectionFaults.find((one) => exchange.drawn(one));
  const fault = kind && exchange.inject(kind);
  if (!kind || !fault) return;
  const requested =
    fault.retryAfter && 'seconds' in fault.retryAfter ? fault.retryAfter.seconds : undefined;
  const resetIn = (fallback: number): number => world.clock.now() + (requested ?? fallback) * 1000;
  const headers =
    kind === 'x-429-day'
      ? spentHeaders('day', resetIn(DAY))
      : kind === 'x-429-window' || kind === 'x-429-legacy'
        ? spentHeaders('window', resetIn(QUARTER_HOUR))
        : {};
  throw rejection(kind, names, headers);
}
