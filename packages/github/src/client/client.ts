import { outcomeOfFault, withSendToken } from '@toolkeel/contract';
import {
  FaultError,
  presets,
  systemClock,
  type Clock,
  type Effect,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import {
  authenticate,
  badResponse,
  createConnections,
  createHttpClient,
  createRedactor,
  headerOf,
  memberOf,
  objectsOf,
  type HttpClient,
  type Intercept,
  type RequestContext,
  type WriteContext,
} from '@toolkeel/pack-kit';
import {
  installationCredential,
  MINT,
  tokenCredential,
  unsent,
  type Credential,
  type InstallationOptions,
} from './credentials.js';
import { itemsIn } from './document.js';
import { faultOfGitHub, graphqlFault, graphqlLimit } from './faults.js';
import { EtagCache } from './etag-cache.js';
import {
  documentedPacing,
  gateOf,
  type Cost,
  type GateStatus,
  type Pacing,
  type RateGate,
} from './limits.js';
import {
  baseUrlOf,
  buildRequest,
  graphqlUrlOf,
  linkRequest,
  responseOf,
  type Call,
  type CheckRun,
  type GitHubClientOptions,
  type GitHubRequest,
  type GitHubResponse,
  type GraphqlResponse,
  type Parameters,
  type RequestOptions,
} from './request.js';

const DEFAULT_BASE = 'https://api.github.com';
const MEDIA_TYPE = 'application/vnd.github+json';
/** The largest response to a token request. */
const MAX_TOKEN_BYTES = 262_144;
/** A list whose pages are empty has no other end. */
const MAX_PAGES = 100;

interface Collected<Item> {
  readonly items: readonly Item[];
  readonly isComplete: boolean;
}

/** A client of GitHub's REST and GraphQL APIs for one credential. */
export class GitHubClient {
  readonly baseUrl: URL;
  readonly graphqlUrl: URL;
  readonly clock: Clock;
  readonly #http: HttpClient<GitHubRequest>;
  readonly #credential: Credential;
  readonly #policy: ResiliencePolicy;
  readonly #cache = new EtagCache();
  readonly #pacing: Pacing;
  readonly #close: () => Promise<void>;
  #rejected = '';

  constructor(options: GitHubClientOptions, installation?: InstallationOptions) {
    const { deps = {}, policy = presets.github } = options;
    this.clock = options.clock ?? systemClock;
    this.baseUrl = baseUrlOf(options.baseUrl ?? DEFAULT_BASE);
    this.graphqlUrl = graphqlUrlOf(this.baseUrl);
    this.#policy = policy;
    this.#pacing = { ...documentedPacing, ...options.pacing };
    const secrets = createRedactor({ ...(deps.secret && { onSecret: deps.secret }) });
    const headers = {
      accept: MEDIA_TYPE,
      'user-agent': options.userAgent ?? 'toolkeel-github/0.1',
      'x-github-api-version': options.apiVersion ?? '2022-11-28',
    };
    const connections = createConnections(policy.attemptTimeoutMs ?? 20_000);
    const trusted = [this.baseUrl.origin, ...(options.trustedOrigins ?? [])];
    const exchange = { connections, secrets, headers, trusted: new Set(trusted) };
    this.#credential = installation
      ? installationCredential(installation, {
          baseUrl: this.baseUrl,
          clock: this.clock,
          policy,
          secrets,
          cache: options.tokenCache,
          send: async (request, signal) => {
            this.#gate.refuseWhileClosed(MINT, this.clock);
            return authenticate(request, {
              ...exchange,
              signal,
              maxBytes: MAX_TOKEN_BYTES,
              wallNow: () => this.clock.wallNow(),
              faultOf: (response) => faultOfGitHub(response, this.#limitContext('core')),
            });
          },
        })
      : tokenCredential(options.token, secrets);
    this.#http = createHttpClient<GitHubRequest>({
      name: 'github',
      policy,
      deps: {
        now: () => this.clock.now(),
        random: deps.random ?? Math.random,
        observe: deps.observe ?? (() => undefined),
      },
      trusted,
      secrets,
      maxBytes: options.maxBytes,
      clock: this.clock,
      connections,
      headers,
      intercept: this.#attempt,
      faultOf: (response, { cost }) => faultOfGitHub(response, this.#limitContext(cost.resource)),
      refreshAuth: (signal) => this.#credential.renew(this.#rejected, signal),
    });
    this.#close = () => this.#http.close();
  }

  get credential(): Pick<Credential, 'kind' | 'key' | 'permissions'> {
    return this.#credential;
  }

  get #gate(): RateGate {
    return gateOf(this.baseUrl.host, this.#credential.key);
  }

  get upstreams(): readonly Upstream[] {
    return this.#http.upstreams();
  }

  /** The rate limits from memory, without a request. */
  rateLimits(): GateStatus {
    return this.#gate.status(this.clock);
  }

  /** A read: retried, conditional, with redirects followed. `route` is `GET /repos/{owner}/{repo}`. */
  async read<Data = unknown>(
    route: string,
    parameters: Parameters = {},
    call: Call = {},
    options: RequestOptions = {},
  ): Promise<GitHubResponse<Data>> {
    const request = buildRequest(this.baseUrl, route, parameters, options);
    return this.#conditional<Data>(request, this.#context(call));
  }

  /** Reads a page by its link, verbatim. A link to another origin is refused. */
  async follow<Data = unknown>(
    link: string,
    call: Call = {},
    options: RequestOptions = {},
  ): Promise<GitHubResponse<Data>> {
    return this.#conditional<Data>(linkRequest(this.baseUrl, link, options), this.#context(call));
  }

  /** All items of a list up to `maxItems`. */
  async collect<Item>(
    route: string,
    parameters: Parameters,
    call: Call,
    maxItems: number,
  ): Promise<Collected<Item>> {
    const items: Item[] = [];
    let page = await this.read(route, { per_page: 100, ...parameters }, call);
    for (let pages = 1; ; pages += 1) {
      items.push(...(itemsIn(page) as readonly Item[]));
      if (page.next === undefined && items.length <= maxItems) return { items, isComplete: true };
      if (page.next === undefined || items.length >= maxItems || pages === MAX_PAGES)
        return { items: items.slice(0, maxItems), isComplete: false };
      page = await this.follow(page.next, call);
    }
  }

  /** The first item that matches, in the list's order. `isComplete`: without a match, there is none. */
  async find<Item>(
    route: string,
    parameters: Parameters,
    call: Call,
    maxItems: number,
    matches: (item: Item) => boolean,
  ): Promise<{ readonly found: Item | undefined; readonly isComplete: boolean }> {
    let page = await this.read(route, { per_page: 30, ...parameters }, call);
    for (let seen = 0, pages = 1; ; pages += 1) {
      const items = itemsIn(page) as readonly Item[];
      const found = items.find(matches);
      seen += items.length;
      const isComplete = page.next === undefined;
      if (found !== undefined || isComplete || seen >= maxItems || pages === MAX_PAGES)
        return { found, isComplete };
      page = await this.follow(page.next ?? '', call);
    }
  }

  /** A write that has the same result if it is repeated: retried like a read. */
  idempotent<Data = unknown>(
    route: string,
    parameters: Parameters,
    call: Call = {},
    options: RequestOptions = {},
  ): Promise<GitHubResponse<Data>> {
    return this.#write<Data>('idempotent', route, parameters, call, options);
  }

  /** A write that is never sent again after it may have arrived. */
  once<Data = unknown>(
    route: string,
    parameters: Parameters,
    call: Call = {},
    options: RequestOptions = {},
  ): Promise<GitHubResponse<Data>> {
    return this.#write<Data>('once', route, parameters, call, options);
  }

  /**
   * Like {@link once}; if the outcome is unknown, returns what `find` finds of the write instead. Without a
   * find the fault is thrown, and the outcome stays unknown: a list may show a write late.
   */
  async onceOrFind<Data>(
    route: string,
    parameters: Parameters,
    find: (call: Call) => Promise<Data | undefined>,
    call: Call = {},
    options: RequestOptions = {},
  ): Promise<{ readonly data: Data; readonly isFound: boolean }> {
    const context = this.#context(call);
    try {
      const { data } = await this.once<Data>(route, parameters, context, options);
      return { data, isFound: false };
    } catch (cause) {
      const isLost =
        cause instanceof FaultError && outcomeOfFault('once', cause.fault) === 'unknown';
      const data = isLost ? await find(context).catch(() => undefined) : undefined;
      if (data === undefined) throw cause;
      return { data, isFound: true };
    }
  }

  /** Creates a check run. Its `external_id`, unique among those of the commit, finds it after a lost answer. */
  createCheckRun(run: CheckRun, call: Call = {}) {
    const { owner, repo, name, head_sha, external_id } = run;
    const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
    const at = { owner, repo, ref: head_sha, check_name: name, filter: 'all', per_page: 100 };
    const find = async (context: Call) => {
      const { data } = await this.read(route, at, context);
      const runs = objectsOf(memberOf(data, 'check_runs'));
      return runs.find((found) => found['external_id'] === external_id);
    };
    return this.onceOrFind('POST /repos/{owner}/{repo}/check-runs', { ...run }, find, call);
  }

  /**
   * GET with retries for a path below the API, with every guarantee of {@link read}. The path is not a
   * template: `:name` and braces in it are sent as they are.
   */
  getWithRetry<Data = unknown>(path: string, call: Call = {}): Promise<GitHubResponse<Data>> {
    return this.follow<Data>(`${this.baseUrl.href}${path.replace(/^\/+/, '')}`, call);
  }

  /** Runs a GraphQL document. Errors of fields are thrown as a fault unless `data` is usable. */
  async graphql<Data = unknown>(
    document: string,
    variables: Parameters,
    call: Call = {},
    effect: Exclude<Effect, 'once'> = 'read',
  ): Promise<GraphqlResponse<Data>> {
    const isMutation = effect !== 'read';
    const request: GitHubRequest = {
      method: 'POST',
      url: this.graphqlUrl,
      body: JSON.stringify({ query: document, variables }),
      route: 'graphql',
      cost: { resource: 'graphql', endpoint: 'graphql', isMutation, createsContent: false },
    };
    const context = this.#context(call);
    const { json } = await this.#http[effect](request, context);
    const data = memberOf(json, 'data');
    const errors = objectsOf(memberOf(json, 'errors'));
    if (data === undefined || data === null) {
      if (errors.length === 0) throw badResponse(this.graphqlUrl, 'neither data nor errors');
      throw this.graphqlError(errors);
    }
    return { data: data as Data, errors };
  }

  /** The fault for a GraphQL response without the data that was asked for. */
  graphqlError(errors: readonly unknown[]): FaultError {
    return graphqlFault(this.graphqlUrl, errors);
  }

  close(): Promise<void> {
    return this.#close();
  }

  async #write<Data>(
    effect: 'idempotent' | 'once',
    route: string,
    parameters: Parameters,
    call: Call,
    options: RequestOptions,
  ): Promise<GitHubResponse<Data>> {
    const request = buildRequest(this.baseUrl, route, parameters, options);
    return responseOf<Data>(await this.#http[effect](request, this.#context(call)));
  }

  /** A GET with the ETag of the last response. Keyed without the token, which rotates. */
  async #conditional<Data>(
    request: GitHubRequest,
    context: RequestContext,
  ): Promise<GitHubResponse<Data>> {
    const key = `${request.url.href} ${request.headers?.['accept'] ?? ''}`;
    const known = this.#cache.get(key);
    const headers = { ...request.headers, ...(known && { 'if-none-match': known.etag }) };
    const response = await this.#http.read({ ...request, headers }, context);
    const shown = responseOf<Data>(response);
    if (response.status === 304 && known) {
      // Parsed anew, because callers may change what they get.
      return { ...shown, data: JSON.parse(known.text) as Data, isCached: true, next: known.next };
    }
    const etag = headerOf(response.headers, 'etag');
    if (etag !== undefined && response.json !== undefined)
      this.#cache.set(key, { etag, text: JSON.stringify(response.json), next: shown.next });
    return shown;
  }

  /** One attempt: the credential, the gate, and what the response says about limits. */
  readonly #attempt: Intercept<GitHubRequest> = async (request, attempt, next) => {
    const { signal, deadline, untimed } = attempt;
    const { cost } = request;
    const token = await this.#token(cost, signal).catch(unsent);
    const gate = this.#gate;
    const options = { pacing: this.#pacing, clock: this.clock, signal, deadline };
    const release = await untimed(() => gate.admit(cost, options));
    try {
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      const response = await next({ ...request, headers });
      gate.record(response.limits, cost);
      const limit =
        cost.resource === 'graphql'
          ? graphqlLimit(response, this.#limitContext(cost.resource))
          : undefined;
      if (limit) throw new FaultError(limit);
      gate.recordSuccess();
      return response;
    } catch (cause) {
      if (cause instanceof FaultError) {
        if (cause.fault.kind === 'auth') this.#rejected = token;
        const { kind, limits = [] } = cause.fault;
        // The gate of a limit is closed already.
        if (kind === 'rate_limited') gate.learn(limits, cost);
        else gate.record(limits, cost);
      }
      throw cause;
    } finally {
      release();
    }
  };

  /** While GitHub refuses requests, no token is minted for one. */
  async #token(cost: Cost, signal: AbortSignal): Promise<string> {
    this.#gate.refuseWhileClosed(cost, this.clock);
    return this.#credential.token(signal);
  }

  #limitContext(resource: string) {
    return { gate: this.#gate, resource, clock: this.clock };
  }

  /** A call outside of a tool has no journal; a tool's call records its writes, or is refused them. */
  #context(call: Call): WriteContext {
    if ('correlationId' in call) return call as WriteContext;
    const { signal = new AbortController().signal, timeoutMs = this.#policy.callTimeoutMs } = call;
    const deadline = this.clock.now() + (timeoutMs ?? 55_000);
    const send: WriteContext['send'] = (write) => withSendToken(0, write);
    return { signal, deadline, correlationId: 'github', retryUnsent: true, send };
  }
}
