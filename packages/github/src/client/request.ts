import { request as octokit } from '@octokit/request';
import type { PackDeps } from '@toolkeel/contract';
import { FaultError, type Clock, type ResiliencePolicy } from '@toolkeel/kernel';
import {
  headerOf,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  type RequestContext,
} from '@toolkeel/pack-kit';
import type { TokenCache } from './credentials.js';
import { GitHubError } from './faults.js';
import type { Cost, Pacing } from './limits.js';
import { linkOf } from './link.js';

export interface GitHubClientOptions {
  /** Default: https://api.github.com. For Enterprise Server: https://HOST/api/v3. */
  readonly baseUrl?: string | undefined;
  /** A token, or a function that reads it from where it is stored. */
  readonly token?: string | (() => string) | undefined;
  readonly policy?: ResiliencePolicy | undefined;
  readonly pacing?: Partial<Pacing> | undefined;
  /** Default: 2022-11-28, which Enterprise Server supports too. */
  readonly apiVersion?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly maxBytes?: number | undefined;
  /** Origins besides the API's that may have private addresses, such as the storage of logs. */
  readonly trustedOrigins?: readonly string[] | undefined;
  readonly deps?: Partial<PackDeps> | undefined;
  readonly clock?: Clock | undefined;
  readonly tokenCache?: TokenCache | undefined;
}

export interface GitHubResponse<Data = unknown> {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly data: Data;
  readonly url: URL;
  /** Served from the cache after a 304, which costs nothing. */
  readonly isCached: boolean;
  /** The `next` link, exactly as GitHub wrote it. */
  readonly next: string | undefined;
}

export interface GraphqlResponse<Data = unknown> {
  readonly data: Data;
  /** Errors of single fields. */
  readonly errors: readonly unknown[];
}

export type Parameters = Readonly<Record<string, unknown>>;

/** Options of one call outside of a tool. */
export interface PlainCall {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export type Call = RequestContext | PlainCall;

export interface GitHubRequest extends HttpRequest {
  readonly cost: Cost;
}

export interface RequestOptions {
  readonly accept?: string | undefined;
  /** A diff or a log. */
  readonly expects?: 'json' | 'text' | undefined;
  readonly maxBytes?: number | undefined;
  /** The write makes something that others are notified of. GitHub limits these further. */
  readonly createsContent?: boolean | undefined;
  /** The write makes something that is not visible yet, such as a git object: it needs no pause. */
  readonly isUnseen?: boolean | undefined;
}

/** A check run to create. `external_id` is required, because nothing else identifies it. */
export interface CheckRun extends Parameters {
  readonly owner: string;
  readonly repo: string;
  readonly name: string;
  readonly head_sha: string;
  readonly external_id: string;
}

/** Octokit's templates: parameters that the path does not name are the query or the JSON body. */
export function buildRequest(
  baseUrl: URL,
  route: string,
  parameters: Parameters,
  options: RequestOptions,
): GitHubRequest {
  const known = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const [template = ''] = route.split(' ').slice(1);
  refuseDots(baseUrl, template, known);
  const endpoint = octokit.endpoint(route, {
    ...Object.fromEntries(known),
    baseUrl: baseUrl.href.replace(/\/$/, ''),
  });
  const { method, url } = endpoint;
  const body: unknown = endpoint.body;
  return {
    method,
    url: sameOrigin(baseUrl, url),
    cost: costOf(method, template, baseUrl, options),
    route: resourceOf(template),
    ...settingsOf(options),
    // Octokit writes an absent body as an empty one.
    ...(body !== undefined && body !== '' && bodyOf(body)),
  };
}

/** A string, which Octokit takes as `data`, is sent as it is. */
const bodyOf = (body: unknown) =>
  typeof body === 'string'
    ? { body, headers: { 'content-type': 'text/plain; charset=utf-8' } }
    : { body: JSON.stringify(body) };

const settingsOf = ({ accept, expects, maxBytes }: RequestOptions) => ({
  ...(accept !== undefined && { headers: { accept } }),
  ...(expects !== undefined && { expects }),
  ...(maxBytes !== undefined && { maxBytes }),
});

/** A page by its link, verbatim. */
export function linkRequest(baseUrl: URL, link: string, options: RequestOptions): GitHubRequest {
  const url = sameOrigin(baseUrl, link);
  const template = url.pathname.replaceAll(/\/\d+(?=\/|$)/g, '/{n}');
  const cost = costOf('GET', template, baseUrl);
  return { method: 'GET', url, cost, route: cost.resource, ...settingsOf(options) };
}

/** The credential is for one origin. */
function sameOrigin(baseUrl: URL, href: string): URL {
  const url = new URL(href, baseUrl);
  if (url.origin === baseUrl.origin) return url;
  throw new FaultError({ kind: 'bad_response', sent: 'no', final: true });
}

/** As a path segment, a dot or two would name another endpoint. */
function refuseDots(
  url: URL,
  template: string,
  given: readonly (readonly [string, unknown])[],
): void {
  const name = given.find(
    ([key, value]) => template.includes(`{${key}}`) && (value === '.' || value === '..'),
  )?.[0];
  if (name === undefined) return;
  const json = { message: `${name} is not a valid name` };
  const cause = new GitHubError({ status: 404, headers: {}, url, json });
  throw new FaultError({ kind: 'rejected', sent: 'no', status: 404, cause });
}

export function baseUrlOf(href: string): URL {
  const url = new URL(href);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** Enterprise Server has `/api/v3/` and `/api/graphql`. */
export function graphqlUrlOf(base: URL): URL {
  const path = base.pathname.replace(/\/api\/v3\/$/, '/api/');
  return new URL(`${path}graphql`, base);
}

function resourceOf(path: string): string {
  if (path.startsWith('/search/code')) return 'code_search';
  return path.startsWith('/search/') ? 'search' : 'core';
}

function costOf(
  method: string,
  template: string,
  base: URL,
  { createsContent = false, isUnseen = false }: RequestOptions = {},
): Cost {
  const path = `/${template.replace(base.pathname, '').replace(/^\//, '')}`;
  const isMutation = method !== 'GET' && method !== 'HEAD';
  const endpoint = `${method} ${path}`;
  return { resource: resourceOf(path), endpoint, isMutation, createsContent, isUnseen };
}

export function responseOf<Data>(response: HttpResponse): GitHubResponse<Data> {
  const { status, headers, json, text, url } = response;
  const next = linkOf(headerOf(headers, 'link'), 'next');
  return { status, headers, data: (text ?? json) as Data, url, isCached: false, next };
}
