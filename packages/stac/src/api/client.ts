import { FaultError, type Clock } from '@toolkeel/kernel';
import {
  stringsOf,
  TtlCache,
  withTimeShare,
  type CallContext,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { Documents } from '../http/documents.js';
import type { Requests } from '../http/requests.js';
import type { CollectionSearchResult } from '../search/collections.js';
import type { KnownCollections } from '../search/diagnose.js';
import { PageBuffer } from '../search/page-buffer.js';
import type { SearchResult } from '../search/search.js';
import type { Catalog, Catalogs } from './catalogs.js';
import { parseLandingPage, type LandingPage } from './landing.js';
import type { Signer } from './signer.js';

interface ClientParts {
  readonly catalogs: Catalogs;
  readonly requests: Requests;
  readonly documents: Documents;
  readonly signer: Signer;
  readonly clock: Clock;
  /** The maximum duration of a tool call. */
  readonly capMs: number;
}

/** How long landing pages, collection lists and queryables are cached. */
const TTL_MS = 300_000;
/** Applies to a landing page whose conformance page could not be read. */
const INCOMPLETE_TTL_MS = 30_000;
/** The share of the remaining time that reading the conformance page may take. */
const CONFORMANCE_SHARE = 0.4;
const MAX_CATALOGS = 64;

/** The dependencies and caches that the tools share. */
export class Client {
  readonly catalogs: Catalogs;
  readonly requests: Requests;
  readonly documents: Documents;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly capMs: number;
  readonly itemBuffer = new PageBuffer<SearchResult>(() => this.now());
  readonly collectionBuffer = new PageBuffer<CollectionSearchResult>(() => this.now());
  readonly collectionCache = new TtlCache<KnownCollections>(() => this.now(), TTL_MS, MAX_CATALOGS);
  readonly queryableCache = new TtlCache<readonly string[]>(() => this.now(), TTL_MS, MAX_CATALOGS);
  readonly #landings = new TtlCache<LandingPage>(() => this.now(), TTL_MS, MAX_CATALOGS);
  readonly #postRejected = new Set<string>();

  constructor(parts: ClientParts) {
    this.catalogs = parts.catalogs;
    this.requests = parts.requests;
    this.documents = parts.documents;
    this.signer = parts.signer;
    this.clock = parts.clock;
    this.capMs = parts.capMs;
  }

  /** Monotonic milliseconds. */
  now(): number {
    return this.clock.now();
  }

  /** The landing page of a catalogue. Cached; failures are not. */
  async landing(
    catalog: Catalog,
    context: CallContext,
    options: { fresh?: boolean } = {},
  ): Promise<LandingPage> {
    const cached = this.#landings.get(catalog.name);
    if (cached && options.fresh !== true) return cached;
    const landing = await this.#load(catalog, context);
    this.#landings.set(
      catalog.name,
      landing,
      landing.conformanceFault ? INCOMPLETE_TTL_MS : TTL_MS,
    );
    return landing;
  }

  async #load(catalog: Catalog, context: CallContext): Promise<LandingPage> {
    const { doc, url } = await this.documents.get(catalog, catalog.url, 'landing', context);
    const landing = parseLandingPage(doc, url);
    if (landing.conformsTo.length > 0 || !landing.conformance) return landing;
    // Servers before STAC API 1.0 list their conformance classes on a separate page.
    const limited = withTimeShare(context, this.now(), CONFORMANCE_SHARE);
    try {
      const conformance = await this.documents.get(
        catalog,
        landing.conformance,
        'conformance',
        limited,
      );
      const merged: JsonObject = { ...doc, conformsTo: stringsOf(conformance.doc['conformsTo']) };
      return parseLandingPage(merged, url);
    } catch (conformanceFault) {
      if (!(conformanceFault instanceof FaultError)) throw conformanceFault;
      context.signal.throwIfAborted();
      return { ...landing, conformanceFault };
    }
  }

  /** Whether to send searches by POST: the catalogue offers it and has not rejected it. */
  mayPost({ name }: Catalog, landing: LandingPage): boolean {
    return landing.search?.post === true && !this.#postRejected.has(name);
  }

  notePostRejected({ name }: Catalog): void {
    if (this.#postRejected.size < MAX_CATALOGS) this.#postRejected.add(name);
  }
}
