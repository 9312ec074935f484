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
export class Session {
  readonly #options: SessionOptions;
  readonly #rejected = new Map<Credential, string>();
  #clockAheadMs = 0;
  #lastSuccessAt: number | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get user(): Credential | undefined {
    return this.#options.user;
  }

  get app(): Credential | undefined {
    return this.#options.app;
  }

  /** X's clock in milliseconds since 1970, estimated from its responses. */
  get upstreamNow(): number {
    return this.#options.wallNow() + this.#clockAheadMs;
  }

  /** When X last answered with a success. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** Prefers the user login, which sees more and has its own rate limits. */
  credentialFor(route: Route): Credential {
    const credential = this.#choose(route);
    if (credential) return credential;
    throw route.auth === 'user' && this.#options.app ? noLogin() : noCredential();
  }

  #choose({ auth }: Route): Credential | undefined {
    const { app, user } = this.#options;
    return auth === 'user' || user?.exists() ? user : (app ?? user);
  }

  /** Requests with the same key count against the same rate limit. */
  limitKey(route: Route): string {
    const credential = this.#choose(route);
    // Another login can be another account, with its own rate limits.
    return `${credential?.kind ?? 'none'} ${credential?.login() ?? ''} ${route.name}`;
  }

  /** Replaces the token that X rejected. */
  async renew(route: Route, signal: AbortSignal): Promise<void> {
    const credential = this.credentialFor(route);
    await credential.renew(this.#rejected.get(credential) ?? '', signal);
  }

  /** Adds the credential to one attempt and records the result. */
  readonly intercept: Intercept<XRequest> = async (request, signal, next) => {
    const { windows, wallNow } = this.#options;
    const { endpoint, headers } = request;
    const credential = this.credentialFor(endpoint);
    const token = await credential.token(signal);
    const { kind } = credential;
    const scope = { endpoint: endpoint.name, credential: kind, login: credential.login() };
    try {
      const authorization = `Bearer ${token}`;
      const response = await next({ ...request, headers: { ...headers, authorization } });
      windows.record(scope, xResponseOf(response).limits);
      const date = Date.parse(headerOf(response.headers, 'date') ?? '');
      if (!Number.isNaN(date)) this.#clockAheadMs = date - wallNow();
      this.#lastSuccessAt = wallNow();
      return response;
    } catch (cause) {
      if (cause instanceof FaultError) {
        windows.record(scope, cause.fault.limits ?? []);
        if (cause.fault.kind === 'auth') this.#rejected.set(credential, token);
      }
      throw cause;
    }
  };

  /** The HTTP request, without its credential. */
  httpRequest({ route, path, query = {}, json, form }: ApiRequest): XRequest {
    const url = urlUnder(this.#options.baseUrl, ...path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return {
      endpoint: route,
      method: route.method,
      url,
      route: this.limitKey(route),
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(form && { body: form.body, headers: { 'content-type': form.contentType } }),
    };
  }
}

export function xResponseOf({ json = {}, limits }: HttpResponse): XResponse {
  const doc = objectOf(json);
  if (!doc) throw unreadableResponse();
  return { doc, limits };
}
