import { refusalFaults, type ContentFault } from '../chaos/kinds.js';
import { createRouter, type Route, type RouteContext } from '../front/routes.js';
import type { Upstream } from '../front/upstream.js';
import type { JsonObject } from '../json.js';
import { hash } from '../random/random.js';
import type { XApi } from './api/call.js';
import { checkedQuery } from './api/query.js';
import { authorize } from './auth/authorize.js';
import type { Oauth, Witness } from './auth/client.js';
import { appToken, revoke, token } from './auth/token.js';
import type { Caller } from './auth/tokens.js';
import { admit, count, identify, type Gatekeeper } from './gate.js';
import { blank, XProblem } from './problem/problem.js';
import { apiRoutes, type ApiRoute } from './routes.js';

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
  seat: { readonly request: number },
  now: number,
  caller?: Caller,
): Record<string, string> {
  const id = hash('transaction', seat.request).toString(16).padStart(8, '0');
  const mayWrite = caller?.kind === 'user' && caller.scopes.includes('tweet.write');
  return {
    // By the clock that everything else goes by: a client may compare the two.
    date: new Date(now).toUTCString(),
    'api-version': '2.167',
    'x-transaction-id': id + hash('more', seat.request).toString(16).padStart(8, '0'),
    'x-response-time': '12',
    ...(caller && { 'x-access-level': mayWrite ? 'read-write' : 'read' }),
  };
}

export function xUpstream(api: XApi, keeper: Gatekeeper, oauth: Oauth): Upstream {
  const answer = async (route: ApiRoute, context: RouteContext): Promise<Response> => {
    const { env: seat, req } = context;
    let told: Record<string, string> = signature(seat, keeper.now());
    try {
      const caller = identify(keeper, req.raw, route);
      const { allowed, headers } = count(keeper, route, caller);
      told = { ...signature(seat, keeper.now(), caller), ...headers };
      if (!allowed) throw new XProblem(429, blank(429));
      admit(keeper, route, caller, seat);
      const query = checkedQuery(req.url, route.query);
      const param = (name: string): string => req.param(name) ?? '';
      const form = (): Promise<FormData> => req.formData();
      const call = { route: route.name, caller, param, query, request: req.raw, form, seat };
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
        const denied = env.commit('x-consent-denied') !== undefined;
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
    answer: (request, seat) => app.fetch(request, seat),
    outage: (status) => ({ type: PROBLEM_TYPE, text: JSON.stringify(blank(status)) }),
  };
}
