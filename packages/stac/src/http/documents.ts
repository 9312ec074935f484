import type { Catalog } from '../api/catalogs.js';
import { isDoc, type Doc } from '../json.js';
import type { CallContext } from '../call-context.js';
import { badAnswer } from './exchange.js';
import type { Gateway } from './gateway.js';
import { headerOf, type HttpAnswer } from './types.js';

/** A JSON object and where it was found, which is what its links are relative to. */
export interface Document {
  readonly doc: Doc;
  readonly url: URL;
}

interface Kept extends Document {
  readonly etag: string;
}

const MAX_KEPT = 64;
const MAX_KEPT_BYTES = 262_144;

/** Single documents by GET. One that came with an ETag is asked for again only if it has changed. */
export class Documents {
  readonly #gateway: Gateway;
  readonly #kept = new Map<string, Kept>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  async get(catalog: Catalog, url: URL, route: string, scope: CallContext): Promise<Document> {
    const key = `${catalog.name} ${url.href}`;
    const kept = this.#kept.get(key);
    const headers = kept && { 'if-none-match': kept.etag };
    const request = { catalog, method: 'GET', url, headers, route } as const;
    const answer = await this.#gateway.send(request, scope);
    if (answer.status === 304 && kept) return kept;
    const document = documentOf(answer);
    this.#keep(key, answer, document);
    return document;
  }

  #keep(key: string, { headers, bytes }: HttpAnswer, document: Document): void {
    this.#kept.delete(key);
    const etag = headerOf(headers, 'etag');
    if (etag === undefined || bytes > MAX_KEPT_BYTES) return;
    this.#kept.set(key, { ...document, etag });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

export function documentOf({ json, url }: Pick<HttpAnswer, 'json' | 'url'>): Document {
  if (!isDoc(json)) throw badAnswer(url, 'not a JSON object');
  return { doc: json, url };
}
