import { FaultError, type RateLimitInfo } from '@toolkeel/kernel';
import {
  headerOf,
  objectOf,
  urlUnder,
  type HttpRequest,
  type HttpResponse,
  type Intercept,
  type JsonObject,
  type RateWindows,
} from '@toolkeel/pack-kit';
import type { Credential, CredentialKind } from '../auth/credential.js';
import { noCredential, noLogin } from '../faults.js';
import type { Route } from './routes.js';
import { unreadableResponse } from './upstream-problem.js';

/** What a rate limit of X applies to. */
export interface LimitScope {
  readonly endpoint: string;
  readonly credential: CredentialKind;
  readonly login: string | undefined;
}

export interface SessionOptions {
  readonly baseUrl: URL;
  readonly app: Credential | undefined;
  readonly user: Credential | undefined;
  readonly windows: Pick<RateWindows<LimitScope>, 'record'>;
  readonly wallNow: () => number;
}

export interface ApiRequest {
  readonly route: Route;
  /** Path segments below the base URL. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: unknown;
  readonly form?: { readonly contentType: string; readonly body: Buffer };
}

export interface XRequest extends HttpRequest {
  readonly endpoint: Route;
}

/** The parsed body of a success; empty if X sent none. */
export interface XResponse {
  readonly doc: JsonObject;
  readonly limits: readonly RateLimitInfo[];
}

/** The credentials of requests to X, and what its responses say about credentials, limits and X's clock. */
export type Session = ReturnType<typeof createSession>;

export function createSession({ baseUrl, app, user, windows, wallNow }: SessionOptions) {
  const rejected = new Map<Credential, string>();
  let clockAheadMs = 0;
  let lastSuccessAt: number | undefined;

  /** Prefers the user login, which sees more and has its own rate limits. */
  const choose = ({ auth }: Route): Credential | undefined =>
    auth === 'user' || user?.exists() ? user : (app ?? user);
  const credentialFor = (route: Route): Credential => {
    const credential = choose(route);
    if (credential) return credential;
    throw route.auth === 'user' && app ? noLogin() : noCredential();
  };
  /** Requests with the same key count against the same rate limit. */
  const limitKey = (route: Route): string => {
    const credential = choose(route);
    // Another login can be another account, with its own rate limits.
    return `${credential?.kind ?? 'none'} ${credential?.login() ?? ''} ${route.name}`;
  };

  /** Adds the credential to one attempt and records the result. */
  const intercept: Intercept<XRequest> = async (request, { signal }, next) => {
    const { endpoint, headers } = request;
    const credential = credentialFor(endpoint);
    const token = await credential.token(signal);
    const { kind } = credential;
    const scope = { endpoint: endpoint.name, credential: kind, login: credential.login() };
    try {
      const authorization = `Bearer ${token}`;
      const response = await next({ ...request, headers: { ...headers, authorization } });
      windows.record(scope, xResponseOf(response).limits);
      const date = Date.parse(headerOf(response.headers, 'date') ?? '');
      if (!Number.isNaN(date)) clockAheadMs = date - wallNow();
      lastSuccessAt = wallNow();
      return response;
    } catch (cause) {
      if (cause instanceof FaultError) {
        windows.record(scope, cause.fault.limits ?? []);
        if (cause.fault.kind === 'auth') rejected.set(credential, token);
      }
      throw cause;
    }
  };

  return {
    app,
    user,
    credentialFor,
    limitKey,
    intercept,
    /** X's clock in milliseconds since 1970, estimated from its responses. */
    get upstreamNow(): number {
      return wallNow() + clockAheadMs;
    },
    /** When X last answered with a success. */
    get lastSuccessAt(): number | undefined {
      return lastSuccessAt;
    },
    /** Replaces the token that X rejected. */
    renew: async (route: Route, signal: AbortSignal): Promise<void> => {
      const credential = credentialFor(route);
      await credential.renew(rejected.get(credential) ?? '', signal);
    },
    /** The HTTP request, without its credential. */
    httpRequest: ({ route, path, query = {}, json, form }: ApiRequest): XRequest => {
      const url = urlUnder(baseUrl, ...path);
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) url.searchParams.set(name, String(value));
      }
      return {
        endpoint: route,
        method: route.method,
        url,
        route: limitKey(route),
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(form && { body: form.body, headers: { 'content-type': form.contentType } }),
      };
    },
  };
}

export function xResponseOf({ json = {}, limits }: HttpResponse): XResponse {
  const doc = objectOf(json);
  if (!doc) throw unreadableResponse();
  return { doc, limits };
}
