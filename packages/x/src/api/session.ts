import { FaultError, type Fault, type RateLimitInfo } from '@toolkeel/kernel';
import type { Credential } from '../auth/credential.js';
import { classify } from '../faults.js';
import type { Connections } from '../http/connections.js';
import { read, write, type ExchangeOptions, type Send } from '../http/exchange.js';
import type { HttpAnswer, HttpRequest } from '../http/request.js';
import { urlUnder } from '../http/url.js';
import type { RateWindows } from '../limits/windows.js';
import { noCredential, noLogin } from '../not-configured.js';
import type { Redactor } from '@toolkeel/pack-kit';
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

/** One request to an endpoint. */
export interface ApiRequest {
  readonly route: Route;
  /** Below the base address, made of parts that hold no separator. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: unknown;
  readonly form?: { readonly contentType: string; readonly body: Buffer };
}

/** What an attempt is given; the kernel's own fits. */
export interface AttemptScope {
  readonly signal: AbortSignal;
  readonly reportLimits?: ((limits: readonly RateLimitInfo[]) => void) | undefined;
}

/** Requests to X, one attempt each: credentials, limits and what was last heard. */
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

  /** X's clock, in milliseconds since 1970, as far as we know it. */
  get upstreamNow(): number {
    return this.#options.wallNow() + this.#clockAheadMs;
  }

  /** When X last answered a request as it should. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** The login of an account where there is one: it sees more, and its limits are its own. */
  credentialFor(route: Route): Credential {
    const credential = this.#choose(route);
    if (credential) return credential;
    throw route.auth === 'user' && this.#options.app ? noLogin() : noCredential();
  }

  #choose({ auth }: Route): Credential | undefined {
    const { app, user } = this.#options;
    return auth === 'user' || user?.isThere() ? user : (app ?? user);
  }

  /** Calls with the same one count against the same limits. */
  limitKey(route: Route): string {
    const credential = this.#choose(route);
    // Another login may be another account, whose windows are its own.
    return `${credential?.kind ?? 'none'} ${credential?.login() ?? ''} ${route.name}`;
  }

  read(request: ApiRequest, attempt: AttemptScope): Promise<HttpAnswer> {
    return this.#exchange(request, attempt, read);
  }

  /** `send` records the write once the connection is open, and runs it. */
  write(request: ApiRequest, attempt: AttemptScope, send: Send): Promise<HttpAnswer> {
    return this.#exchange(request, attempt, (given, options) => write(given, options, send));
  }

  /** Replaces the token that X did not accept. */
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

  /** Why a call failed whose credential was refused: perhaps only X's token endpoint was down. */
  explain(route: Route, fault: Fault): Fault {
    if (fault.kind !== 'auth') return fault;
    const reason = this.#renewalFaults.get(this.credentialFor(route));
    if (!reason || reason.kind === 'auth') return fault;
    // Of what was sent before the token was refused nobody knows more than before.
    return { ...reason, sent: fault.sent === 'maybe' ? 'maybe' : 'no' };
  }

  async #exchange(
    request: ApiRequest,
    { signal, reportLimits }: AttemptScope,
    perform: (request: HttpRequest, options: ExchangeOptions) => Promise<HttpAnswer>,
  ): Promise<HttpAnswer> {
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
      windows.note(route.name, credential.kind, login, answer.limits);
      reportLimits?.(answer.limits);
      this.#clockAheadMs = answer.clockAheadMs ?? this.#clockAheadMs;
      this.#lastSuccessAt = wallNow();
      return answer;
    } catch (cause) {
      if (cause instanceof FaultError) {
        windows.note(route.name, credential.kind, login, cause.fault.limits ?? []);
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
