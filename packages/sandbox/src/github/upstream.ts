import { createHash } from 'node:crypto';
import { rejectionsOf, type ContentFault } from '../faults/kinds.js';
import { hash } from '../random.js';
import {
  createRouter,
  type Exchange,
  type Route,
  type RouteContext,
  type Upstream,
} from '../server/upstream.js';
import { actionsRoutes } from './api/actions.js';
import { bodyOf, type ApiRoute, type GithubState, type Reply } from './api/call.js';
import { generalRoutes } from './api/general.js';
import { gitDataRoutes } from './api/git-data.js';
import { graphqlRoute } from './api/graphql.js';
import { issueRoutes } from './api/issues.js';
import { pullRoutes } from './api/pulls.js';
import { repoRoutes } from './api/repos.js';
import type { Caller } from './auth.js';
import { GithubProblem, primaryLimit, problem, rejection, secondaryLimit } from './problems.js';

const rejections = rejectionsOf('github');
const contentFaults: readonly ContentFault[] = [
  ...rejections,
  'github-branch-moves',
  'github-head-moves',
];

const apiRoutes: readonly ApiRoute[] = [
  ...generalRoutes,
  ...repoRoutes,
  ...gitDataRoutes,
  ...issueRoutes,
  ...pullRoutes,
  ...actionsRoutes,
  graphqlRoute,
];

const JSON_TYPE = 'application/json; charset=utf-8';
const VERSIONS = ['2022-11-28', '2026-03-10'];

type Headers = Readonly<Record<string, string>>;

export function githubUpstream(state: GithubState): Upstream {
  const now = (): number => state.world.clock.now();
  const common = (exchange: Exchange): Record<string, string> => ({
    // By the upstream's clock, because clients repair clock skew with it.
    date: new Date(now()).toUTCString(),
    'x-github-request-id': hash('request', exchange.request).toString(16).toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    ...(state.flavour === 'ghes' && { 'x-github-enterprise-version': '3.19.0' }),
  });

  const answer = async (
    route: ApiRoute,
    { env: exchange, req }: RouteContext,
  ): Promise<Response> => {
    let headers: Headers = common(exchange);
    try {
      const version = req.header('x-github-api-version') ?? '2022-11-28';
      if (!VERSIONS.includes(version))
        throw problem(400, `The API version ${version} is not supported.`);
      const caller = state.auth.authenticate(req.raw, route.auth ?? 'token');
      headers = { ...headers, 'x-github-api-version-selected': version, ...scopesOf(caller) };
      const limits = takeLimits(state, route, caller);
      headers = { ...headers, ...limits.headers };
      injectRejection(state, exchange, caller);
      limits.check();
      checkPermission(route, caller);
      const url = new URL(req.url);
      const reply = await route.handle({
        ...state,
        caller,
        version,
        param: (name) => req.param(name) ?? '',
        query: url.searchParams,
        url,
        accept: req.header('accept') ?? '',
        exchange,
        body: (schema) => bodyOf(req.raw, schema),
      });
      return respond(reply, headers, {
        caller,
        isRead: route.method === 'GET',
        known: req.header('if-none-match'),
        free: limits.refund,
      });
    } catch (cause) {
      if (!(cause instanceof GithubProblem)) throw cause;
      const { status, body, headers: own, isBare } = cause;
      const all = isBare ? own : { ...headers, ...own };
      return new Response(JSON.stringify(body), {
        status,
        headers: { 'content-type': JSON_TYPE, ...all },
      });
    }
  };

  const logRoute: Route = {
    name: 'log-file',
    method: 'GET',
    path: '/logs/:link',
    handle: ({ req }) => {
      // The storage behind the link refuses two kinds of authentication.
      if (req.header('authorization') !== undefined)
        return new Response('Only one authentication mechanism is allowed.', { status: 400 });
      const link = state.logLinks.get(req.param('link') ?? '');
      if (!link || link.until < now()) return new Response('Link expired', { status: 403 });
      return new Response(link.text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
    },
  };
  const { app, names, routeOf } = createRouter([
    logRoute,
    ...apiRoutes.map((route): Route => ({
      ...route,
      path: pathOf(state, route),
      handle: (context) => answer(route, context),
    })),
  ]);
  const notFound = JSON.stringify({
    message: 'Not Found',
    documentation_url: 'https://docs.github.com/rest',
    status: '404',
  });
  app.notFound(
    ({ env }) =>
      new Response(notFound, {
        status: 404,
        headers: { 'content-type': JSON_TYPE, ...common(env) },
      }),
  );
  return {
    routes: names,
    contentFaults,
    routeOf,
    handle: (request, exchange) => app.fetch(request, exchange),
    outageBody: (status) => ({
      type: JSON_TYPE,
      text: JSON.stringify({ message: status < 500 ? 'Refused' : 'Server Error' }),
    }),
  };
}

function pathOf({ flavour }: GithubState, { name, path }: ApiRoute): string {
  if (flavour !== 'ghes') return path;
  return name === 'graphql' ? '/api/graphql' : `/api/v3${path}`;
}

const scopesOf = ({ scopes }: Caller): Headers =>
  scopes === undefined ? {} : { 'x-oauth-scopes': scopes };

function takeLimits(state: GithubState, route: ApiRoute, { account, kind }: Caller) {
  const unlimited = { headers: {}, check: () => undefined, refund: () => ({}) };
  if (state.flavour === 'ghes' || kind === 'app' || route.name === 'rate-limit') return unlimited;
  const taken = state.limits.primary(account.login, route.resource ?? 'core');
  const isWrite = route.method !== 'GET' && route.name !== 'graphql';
  const createsContent = route.createsContent === true;
  return {
    headers: taken.headers,
    refund: taken.refund,
    check: () => {
      if (!taken.allowed) throw primaryLimit(403, account.id, taken.headers);
      if (state.limits.secondary(account.login, { name: route.name, isWrite, createsContent }))
        return;
      const { retryAfter } = state.limits;
      throw secondaryLimit(
        403,
        retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
      );
    },
  };
}

function injectRejection({ world }: GithubState, exchange: Exchange, caller: Caller): void {
  const kind = rejections.find((one) => exchange.drawn(one));
  const fault = kind && exchange.inject(kind);
  if (!kind || !fault) return;
  const { retryAfter: given } = fault;
  const retryAfter = given && 'seconds' in given ? given.seconds : undefined;
  throw rejection(kind, {
    account: caller.account.id,
    now: world.clock.now(),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/** Fine-grained and installation tokens name the missing permission in a header. */
function checkPermission({ needs }: ApiRoute, { permissions, kind, token }: Caller): void {
  if (!needs || !permissions || token === '') return;
  const [name, access] = needs;
  const granted = permissions[name];
  if (granted === 'write' || granted === access) return;
  const who = kind === 'installation' ? 'integration' : 'personal access token';
  throw problem(403, `Resource not accessible by ${who}`, {
    'x-accepted-github-permissions': `${name}=${access}`,
  });
}

interface Conditional {
  readonly caller: Caller;
  readonly isRead: boolean;
  readonly known: string | undefined;
  readonly free: () => Headers;
}

function respond(
  { status = 200, json, text, headers: own = {} }: Reply,
  headers: Headers,
  { caller, isRead, known, free }: Conditional,
): Response {
  const body = text?.body ?? (json === undefined ? null : JSON.stringify(json));
  const type = text?.type ?? JSON_TYPE;
  if (!isRead || status !== 200 || body === null) {
    const all = { ...headers, ...own, ...(body !== null && { 'content-type': type }) };
    return new Response(body as string | null, { status, headers: all });
  }
  const digest = createHash('sha256').update(caller.token).update(body).digest('hex');
  const etag = `W/"${digest}"`;
  // A 304 does not count, if it is authorised.
  if (known === etag && caller.token !== '')
    return new Response(null, { status: 304, headers: { ...headers, ...free(), ...own, etag } });
  return new Response(body as string, {
    status,
    headers: {
      ...headers,
      ...own,
      etag,
      'cache-control': 'private, max-age=60',
      'content-type': type,
    },
  });
}
