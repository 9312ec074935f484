import { createHash } from 'node:crypto';
import { FaultError } from '@toolkeel/kernel';
import {
  badResponse,
  countOf,
  objectOf,
  objectsOf,
  ResponseTooLargeError,
  stringOf,
  type JsonObject,
  type Redactor,
} from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import { linkTo, resolveLink } from '../api/links.js';
import { documentOf, PageTooLarge, type Document } from '../http/requests.js';

/** A request for one page. */
export interface PageRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly body?: JsonObject | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A short digest of a request, to detect loops. */
export function requestDigest({ method, url, body, headers }: PageRequest): string {
  const text = JSON.stringify([method, url.href, body ?? null, headers ?? {}]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** The request of a page's `next` link. */
export function nextRequest(
  page: JsonObject,
  at: URL,
  current: PageRequest,
): PageRequest | undefined {
  const link = linkTo(page, 'next');
  if (!link) return undefined;
  const url = resolveLink(link.href, at);
  const given = safeHeaders(link.headers ?? {});
  const headers = link.merge ? { ...current.headers, ...given } : given;
  if (link.method === 'GET') return { method: 'GET', url, headers };
  // A POST link without a body reuses the body of the current request.
  const body = link.merge || !link.body ? { ...current.body, ...link.body } : link.body;
  return { method: 'POST', url, body, headers };
}

/** Whether a request contains a credential, which must not get into a page token. */
export function repeatsSecret({ url, body, headers }: PageRequest, secrets: Redactor): boolean {
  return secrets.contains(JSON.stringify([url.href, body ?? {}, headers ?? {}]));
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,64}$/;
/** Headers that the client sets itself, and credentials, which must not get into a page token. */
const RESERVED_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding|cookie|.*(auth|token|key|secret|signature).*)$/i;

function safeHeaders(given: JsonObject): Readonly<Record<string, string>> {
  const entries = Object.entries(given).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    const usable =
      HEADER_NAME.test(name) && !RESERVED_HEADER.test(name) && /^[\x20-\x7e]{0,512}$/.test(text);
    return usable ? [[name.toLowerCase(), text] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** The limit of a request, if it has one. */
export function limitOf({ method, url, body }: PageRequest): number | undefined {
  const given = method === 'POST' ? body?.['limit'] : url.searchParams.get('limit');
  const limit = Number(given ?? NaN);
  return Number.isInteger(limit) && limit > 0 ? limit : undefined;
}

/** The same request with another limit. */
export function withLimit(request: PageRequest, limit: number): PageRequest {
  if (request.method === 'POST') return { ...request, body: { ...request.body, limit } };
  const url = new URL(request.url);
  url.searchParams.set('limit', String(limit));
  return { ...request, url };
}

/** One page of the server. */
export interface Page {
  /** The request that succeeded: with a smaller limit, if the page was too large. */
  readonly request: PageRequest;
  readonly items: readonly JsonObject[];
  readonly matched?: number;
  readonly next?: PageRequest;
}

const MAX_HALVINGS = 4;

/**
 * Fetches a page, and halves the limit if the page is too large. A smaller page is a new request, not a
 * retry.
 */
export async function fetchPage(request: PageRequest, call: CatalogCall): Promise<Page> {
  let current = request;
  for (let halvings = 0; ; halvings++) {
    const limit = limitOf(current) ?? 1;
    const divisible = limit > 1 && halvings < MAX_HALVINGS;
    const { method, url, headers, body } = current;
    const text = method === 'POST' ? JSON.stringify(body ?? {}) : undefined;
    try {
      const sent = { method, url, headers, body: text, route: 'search', divisible };
      return parsePage(documentOf(await call.send(sent)), current);
    } catch (cause) {
      if (!divisible || !isTooLarge(cause)) throw cause;
      current = withLimit(current, Math.floor(limit / 2));
    }
  }
}

function isTooLarge(thrown: unknown): boolean {
  const cause = thrown instanceof FaultError ? thrown.fault.cause : undefined;
  return cause instanceof ResponseTooLargeError || cause instanceof PageTooLarge;
}

/** The total number of matches that a page reports. */
export function matchedOf(page: JsonObject): number | undefined {
  return countOf(page['numberMatched']) ?? countOf(objectOf(page['context'])?.['matched']);
}

function parsePage({ doc, url }: Document, request: PageRequest): Page {
  if (!Array.isArray(doc['features'])) throw badResponse(url, 'no list of features in it');
  const matched = matchedOf(doc);
  const next = nextRequest(doc, url, request);
  return {
    request,
    // Items without an id are invalid and cannot be requested.
    items: objectsOf(doc['features']).filter((item) => stringOf(item['id']) !== undefined),
    ...(matched !== undefined && { matched }),
    ...(next && { next }),
  };
}
