import { FaultError, type Clock } from '@toolkeel/kernel';
import { textsOf, type Doc } from '../json.js';
import type { Gateway } from '../http/gateway.js';
import type { Document, Documents } from '../http/documents.js';
import { within, type CallContext } from '../call-context.js';
import type { SeenCollections } from '../search/diagnose.js';
import { Leftovers } from '../search/leftovers.js';
import type { Found } from '../search/search.js';
import type { FoundCollections } from '../tools/search-collections.js';
import type { Signer } from './signer.js';
import type { Catalog, Catalogs } from './catalogs.js';
import { readLanding, type Landing } from './landing.js';

interface ClientParts {
  readonly catalogs: Catalogs;
  readonly gateway: Gateway;
  readonly documents: Documents;
  readonly signer: Signer;
  readonly clock: Clock;
  /** How long a tool call may take. */
  readonly capMs: number;
}

/** A server is not reorganised from one call to the next. */
const TTL_MS = 300_000;
/** Of a landing page whose conformance page could not be read. */
const INCOMPLETE_TTL_MS = 30_000;
/** The share of the remaining time that reading the conformance page may take. */
const CONFORMANCE_SHARE = 0.4;
const MAX_KNOWN = 64;

/** All that the tools need to talk to catalogues. */
export class Client {
  readonly catalogs: Catalogs;
  readonly gateway: Gateway;
  readonly documents: Documents;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly capMs: number;
  readonly foundItems = new Leftovers<Found>(() => this.now());
  readonly foundCollections = new Leftovers<FoundCollections>(() => this.now());
  readonly seenCollections = new TtlCache<SeenCollections>(() => this.now(), TTL_MS, MAX_KNOWN);
  readonly seenQueryables = new TtlCache<readonly string[]>(() => this.now(), TTL_MS, MAX_KNOWN);
  readonly #landings = new TtlCache<Landing>(() => this.now(), TTL_MS, MAX_KNOWN);
  readonly #noPost = new Set<string>();

  constructor(parts: ClientParts) {
    this.catalogs = parts.catalogs;
    this.gateway = parts.gateway;
    this.documents = parts.documents;
    this.signer = parts.signer;
    this.clock = parts.clock;
    this.capMs = parts.capMs;
  }

  /** Milliseconds that only go forward. */
  now(): number {
    return this.clock.now();
  }

  /** A catalogue's first page. It is remembered for a while; a failure never is. */
  async landing(
    catalog: Catalog,
    scope: CallContext,
    options: { fresh?: boolean } = {},
  ): Promise<Landing> {
    const known = this.#landings.get(catalog.name);
    if (known && options.fresh !== true) return known;
    const landing = await this.#load(catalog, scope);
    this.#landings.set(
      catalog.name,
      landing,
      landing.conformanceFault ? INCOMPLETE_TTL_MS : TTL_MS,
    );
    return landing;
  }

  async #load(catalog: Catalog, scope: CallContext): Promise<Landing> {
    const { doc, url } = await this.get(catalog, catalog.url, 'landing', scope);
    const landing = readLanding(doc, url);
    if (landing.conformsTo.length > 0 || !landing.conformance) return landing;
    // Servers of before 1.0 list what they can do on a page of its own.
    const now = this.now();
    const limited = within(scope, { deadline: now + (scope.deadline - now) * CONFORMANCE_SHARE });
    try {
      const conformance = await this.get(catalog, landing.conformance, 'conformance', limited);
      const merged: Doc = { ...doc, conformsTo: textsOf(conformance.doc['conformsTo']) };
      return readLanding(merged, url);
    } catch (conformanceFault) {
      if (!(conformanceFault instanceof FaultError)) throw conformanceFault;
      scope.signal.throwIfAborted();
      return { ...landing, conformanceFault };
    }
  }

  get(catalog: Catalog, url: URL, route: string, scope: CallContext): Promise<Document> {
    return this.documents.get(catalog, url, route, scope);
  }

  /** Whether searches may be posted: offered, and not refused when it was tried. */
  mayPost({ name }: Catalog, landing: Landing): boolean {
    return landing.search?.post === true && !this.#noPost.has(name);
  }

  notePostRefused({ name }: Catalog): void {
    if (this.#noPost.size < MAX_KNOWN) this.#noPost.add(name);
  }
}

/** Values that stay valid for a while. The oldest entries make room for new ones. */
class TtlCache<T> {
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>();

  constructor(now: () => number, ttlMs: number, maxEntries: number) {
    this.#now = now;
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#now() < entry.until ? entry.value : undefined;
  }

  set(key: string, value: T, ttlMs = this.#ttlMs): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#now() + ttlMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
  }
}
