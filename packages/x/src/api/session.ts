import { FaultError, type Fault, type RateLimitInfo } from '@toolkeel/kernel';
import type { Redactor } from '@toolkeel/pack-kit';
import type { Credential } from '../auth/credential.js';
import { classify, noCredential, noLogin } from '../faults.js';
import type { Connections } from '../http/connections.js';
import { read, write, type ExchangeOptions, type Send } from '../http/exchange.js';
import { type HttpResponse, type HttpRequest, urlUnder } from '../http/message.js';
import type { RateWindows } from '../rate-limits.js';
import type { Route } from './routes.js';

export interface SessionOptions {
  readonly baseUrl: URL;
  readonly connections: Connections;
  readonly app: Credential | undefined;
  readonly user: Credential | undefined;
  readonly secrets: Redactor;
  readonly windows: RateWindows;
  readonly maxBytes: number;
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

/** The part of the kernel's attempt context that a request needs. */
export interface RequestContext {
  readonly signal: AbortSignal;
  readonly reportLimits?: ((limits: readonly RateLimitInfo[]) => void) | undefined;
}

/** Sends single attempts to X and records credentials, rate limits and X's clock. */
export class Session {
  readonly #options: SessionOptions;
  readonly #rejected = new Map<Credential, string>();
  readonly #renewalFaults = new Map<Credential, Fault>();
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

  read(request: ApiRequest, attempt: RequestContext): Promise<HttpResponse> {
    return this.#exchange(request, attempt, read);
  }

  /** `send` records the write once the connection is open, then runs it. */
  write(request: ApiRequest, attempt: RequestContext, send: Send): Promise<HttpResponse> {
    return this.#exchange(request, attempt, (given, options) => write(given, options, send));
  }

  /** Replaces the token that X rejected. */
  async renew(route: Route, signal: AbortSignal): Promise<void> {
    const credential = this.credentialFor(route);
    this.#renewalFaults.delete(credential);
    try {
      await credential.renew(this.#rejected.get(credential) ?? '', signal);
    } catch (cause) {
      this.#renewalFaults.set(credential, classify(cause));
      throw cause;
    }
  }

  /** Replaces an auth fault by the reason that the renewal failed, such as an outage of the token endpoint. */
  explain(route: Route, fault: Fault): Fault {
    if (fault.kind !== 'auth') return fault;
    const reason = this.#renewalFaults.get(this.credentialFor(route));
    if (!reason || reason.kind === 'auth') return fault;
    // A failed renewal does not change whether an earlier attempt was sent.
    return { ...reason, sent: fault.sent === 'maybe' ? 'maybe' : 'no' };
  }

  async #exchange(
    request: ApiRequest,
    { signal, reportLimits }: RequestContext,
    perform: (request: HttpRequest, options: ExchangeOptions) => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const { route } = request;
    const { connections, maxBytes, secrets, wallNow, windows } = this.#options;
    const credential = this.credentialFor(route);
    const token = await credential.token(signal);
    const login = credential.login();
    const authorization = `Bearer ${token}`;
    try {
      const answer = await perform(this.#httpRequest(request), {
        connections,
        maxBytes,
        wallNow,
        signal,
        authorization,
        secrets,
      });
      windows.record(route.name, credential.kind, login, answer.limits);
      reportLimits?.(answer.limits);
      this.#clockAheadMs = answer.clockAheadMs ?? this.#clockAheadMs;
      this.#lastSuccessAt = wallNow();
      return answer;
    } catch (cause) {
      if (cause instanceof FaultError) {
        windows.record(route.name, credential.kind, login, cause.fault.limits ?? []);
        if (cause.fault.kind === 'auth') this.#rejected.set(credential, token);
      }
      throw cause;
    }
  }

  #httpRequest({ route, path, query = {}, json, form }: ApiRequest): HttpRequest {
    const url = urlUnder(this.#options.baseUrl, path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const { method } = route;
    if (form) return { method, url, ...form };
    return json === undefined ? { method, url } : { method, url, body: JSON.stringify(json) };
  }
}
