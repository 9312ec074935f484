import { FaultError, type Clock } from '@toolkeel/kernel';
import {
  stringsOf,
  TtlCache,
  withTimeShare,
  type CallContext,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { Documents, Requests } from '../http/requests.js';
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
export type Client = ReturnType<typeof createClient>;

export function createClient(parts: ClientParts) {
  const { documents, clock } = parts;
  /** Monotonic milliseconds. */
  const now = (): number => clock.now();
  const cache = <T>() => new TtlCache<T>(now, TTL_MS, MAX_CATALOGS);
  const landings = cache<LandingPage>();
  const postRejected = new Set<string>();

  const load = async (catalog: Catalog, context: CallContext): Promise<LandingPage> => {
    const { doc, url } = await documents.get(catalog, catalog.url, 'landing', context);
    const landing = parseLandingPage(doc, url);
    if (landing.conformsTo.length > 0 || !landing.conformance) return landing;
    // Servers before STAC API 1.0 list their conformance classes on a separate page.
    const limited = withTimeShare(context, now(), CONFORMANCE_SHARE);
    try {
      const page = await documents.get(catalog, landing.conformance, 'conformance', limited);
      const merged: JsonObject = { ...doc, conformsTo: stringsOf(page.doc['conformsTo']) };
      return parseLandingPage(merged, url);
    } catch (conformanceFault) {
      if (!(conformanceFault instanceof FaultError)) throw conformanceFault;
      context.signal.throwIfAborted();
      return { ...landing, conformanceFault };
    }
  };

  return {
    ...parts,
    now,
    itemBuffer: new PageBuffer<SearchResult>(now),
    collectionBuffer: new PageBuffer<CollectionSearchResult>(now),
    collectionCache: cache<KnownCollections>(),
    queryableCache: cache<readonly string[]>(),
    /** The landing page of a catalogue. Cached; failures are not. */
    landing: async (catalog: Catalog, context: CallContext, { fresh = false } = {}) => {
      const cached = landings.get(catalog.name);
      if (cached && !fresh) return cached;
      const landing = await load(catalog, context);
      const ttlMs = landing.conformanceFault ? INCOMPLETE_TTL_MS : TTL_MS;
      landings.set(catalog.name, landing, ttlMs);
      return landing;
    },
    /** Whether to send searches by POST: the catalogue offers it and has not rejected it. */
    mayPost: ({ name }: Catalog, landing: LandingPage): boolean =>
      landing.search?.post === true && !postRejected.has(name),
    notePostRejected: ({ name }: Catalog): void => {
      if (postRejected.size < MAX_CATALOGS) postRejected.add(name);
    },
  };
}
