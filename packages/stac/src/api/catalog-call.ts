import {
  withDeadline,
  withTimeShare,
  type CallContext,
  type HttpResponse,
} from '@toolkeel/pack-kit';
import type { CatalogRequest, Document } from '../http/requests.js';
import type { Catalog } from './catalogs.js';
import type { Client } from './client.js';
import type { LandingPage } from './landing.js';

/** A tool call to one catalogue. */
export class CatalogCall {
  readonly client: Client;
  readonly catalog: Catalog;
  readonly context: CallContext;

  constructor(client: Client, catalog: Catalog, context: CallContext) {
    this.client = client;
    this.catalog = catalog;
    this.context = context;
  }

  landing(options: { fresh?: boolean } = {}): Promise<LandingPage> {
    return this.client.landing(this.catalog, this.context, options);
  }

  get(url: URL, route: string): Promise<Document> {
    return this.client.documents.get(this.catalog, url, route, this.context);
  }

  send(request: Omit<CatalogRequest, 'catalog'>): Promise<HttpResponse> {
    return this.client.requests.read({ ...request, catalog: this.catalog }, this.context);
  }

  now(): number {
    return this.client.now();
  }

  withDeadline(deadline: number): CatalogCall {
    return new CatalogCall(this.client, this.catalog, withDeadline(this.context, deadline));
  }

  /** Limits optional work to a share of the remaining time. */
  withTimeShare(share: number): CatalogCall {
    const context = withTimeShare(this.context, this.now(), share);
    return new CatalogCall(this.client, this.catalog, context);
  }
}
