import { createHash } from 'node:crypto';
import type { Redactor } from '@toolkeel/pack-kit';
import { linkTo, resolveLink } from '../api/links.js';
import { type Doc, docsOf, matchedOf, textOf } from '../json.js';
import { FaultError, type Fault, type Outcome } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalogs.js';
import { badAnswer } from '../http/exchange.js';
import { documentOf, type Document } from '../http/documents.js';
import type { Gateway } from '../http/gateway.js';
import { OversizedAnswer, UpstreamProblem } from '../http/response.js';
import type { HttpAnswer } from '../http/types.js';
import type { CallContext } from '../call-context.js';

/** What fetches one page. */
export interface PageRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly body?: Doc | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Short, and the same for the same request: to notice a list that leads back to itself. */
export function identityOf({ method, url, body, headers }: PageRequest): string {
  const text = JSON.stringify([method, url.href, body ?? null, headers ?? {}]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** The request that a page's `next` link asks for. */
export function nextRequest(page: Doc, at: URL, current: PageRequest): PageRequest | undefined {
  const link = linkTo(page, 'next');
  if (!link) return undefined;
  const url = resolveLink(link.href, at);
  const given = safeHeaders(link.headers ?? {});
  const headers = link.merge ? { ...current.headers, ...given } : given;
  if (link.method === 'GET') return { method: 'GET', url, headers };
  // A POST without a body of its own continues the search that was posted.
  const body = link.merge || !link.body ? { ...current.body, ...link.body } : link.body;
  return { method: 'POST', url, body, headers };
}

/** Whether a request would carry a credential into a token: an address is put together from parts. */
export function repeatsSecret({ url, body, headers }: PageRequest, secrets: Redactor): boolean {
  return secrets.contains(JSON.stringify([url.href, body ?? {}, headers ?? {}]));
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,64}$/;
/** Ours to set, or a credential that has no place in a link that goes into a token. */
const RESERVED_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding|cookie|.*(auth|token|key|secret|signature).*)$/i;

function safeHeaders(given: Doc): Readonly<Record<string, string>> {
  const entries = Object.entries(given).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    const usable =
      HEADER_NAME.test(name) && !RESERVED_HEADER.test(name) && /^[\x20-\x7e]{0,512}$/.test(text);
    return usable ? [[name.toLowerCase(), text] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** How many items a request asks for, where it says so. */
export function limitOf({ method, url, body }: PageRequest): number | undefined {
  const given = method === 'POST' ? body?.['limit'] : url.searchParams.get('limit');
  const limit = Number(given ?? NaN);
  return Number.isInteger(limit) && limit > 0 ? limit : undefined;
}

/** The same page with fewer items. */
export function withLimit(request: PageRequest, limit: number): PageRequest {
  if (request.method === 'POST') return { ...request, body: { ...request.body, limit } };
  const url = new URL(request.url);
  url.searchParams.set('limit', String(limit));
  return { ...request, url };
}

/** One page as the server gave it. */
export interface Page {
  /** What fetched it: smaller than what was asked for, if that was too large. */
  readonly request: PageRequest;
  readonly items: readonly Doc[];
  readonly matched?: number;
  readonly next?: PageRequest;
}

export interface Fetching {
  readonly gateway: Gateway;
  readonly catalog: Catalog;
  readonly route: string;
  readonly scope: CallContext;
}

const MAX_HALVINGS = 4;

/**
 * Fetches a page, and half of it when the whole is more than the server can send. That is another
 * request, not another attempt at the same one.
 */
export async function fetchPage(request: PageRequest, fetching: Fetching): Promise<Page> {
  const outcome = await tryPage(request, fetching);
  if (!outcome.ok) throw new FaultError(outcome.fault);
  return outcome.value;
}

/** The same with the fault as a value. */
export async function tryPage(
  request: PageRequest,
  { gateway, catalog, route, scope }: Fetching,
): Promise<Outcome<Page>> {
  let current = request;
  for (let halvings = 0; ; halvings++) {
    const limit = limitOf(current) ?? 1;
    const divisible = limit > 1 && halvings < MAX_HALVINGS;
    const { method, url, headers, body } = current;
    const text = method === 'POST' ? JSON.stringify(body ?? {}) : undefined;
    const sent = { catalog, method, url, headers, body: text, route, divisible };
    const outcome: Outcome<HttpAnswer> = await gateway.outcome(sent, scope);
    if (outcome.ok) return { ok: true, value: readPage(documentOf(outcome.value), current) };
    if (!divisible || !isTooLarge(outcome.fault)) return outcome;
    current = withLimit(current, Math.floor(limit / 2));
  }
}

function isTooLarge({ cause }: Fault): boolean {
  return cause instanceof OversizedAnswer || (cause instanceof UpstreamProblem && cause.tooLarge);
}

function readPage({ doc, url }: Document, request: PageRequest): Page {
  if (!Array.isArray(doc['features'])) throw badAnswer(url, 'no list of features in it');
  const matched = matchedOf(doc);
  const next = nextRequest(doc, url, request);
  return {
    request,
    // What has no id cannot be asked for again, so it is no item.
    items: docsOf(doc['features']).filter((item) => textOf(item['id']) !== undefined),
    ...(matched !== undefined && { matched }),
    ...(next && { next }),
  };
}
