import { FaultError, type Fault, type Outcome } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalog.js';
import { badAnswer } from '../http/exchange.js';
import { documentOf, type Document } from '../http/documents.js';
import type { Gateway } from '../http/gateway.js';
import { OversizedAnswer, UpstreamProblem } from '../http/problem.js';
import type { HttpAnswer } from '../http/request.js';
import { docsOf, matchedOf, textOf, type Doc } from '../json.js';
import type { Scope } from '../scope.js';
import { limitOf, nextRequest, withLimit, type PageRequest } from './page-request.js';

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
  readonly scope: Scope;
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
