import type { FaultError } from '@toolkeel/kernel';
import { textOf, type Doc } from '../json.js';
import { below, linkTo, linksWith, targetOf } from './links.js';
import { capabilitiesIn, classesIn, type Capability } from './conformance.js';

/** What a catalogue's first page says: what it can do, and where. */
export interface Landing {
  readonly url: URL;
  readonly doc: Doc;
  /** A static catalogue is files that link to each other: there is nothing to ask. */
  readonly kind: 'api' | 'static';
  readonly conformsTo: readonly string[];
  readonly can: ReadonlySet<Capability>;
  readonly search?: { readonly url: URL; readonly get: boolean; readonly post: boolean };
  /** The list of collections. */
  readonly collections?: URL;
  readonly queryables?: URL;
  readonly conformance?: URL;
  readonly aggregate?: { readonly url: URL; readonly post: boolean };
  readonly aggregations?: URL;
  /** Why the linked conformance page could not be read: the capabilities are incomplete. */
  readonly conformanceFault?: FaultError;
}

export function readLanding(doc: Doc, url: URL): Landing {
  const conformsTo = classesIn(doc['conformsTo']);
  const can = capabilitiesIn(conformsTo);
  const place = (rel: string): URL | undefined => {
    const link = linkTo(doc, rel);
    return link && targetOf(link.href, url);
  };
  const optional = {
    search: searchOf(doc, url, can),
    collections: place('data') ?? (can.has('features') ? below(url, 'collections') : undefined),
    queryables: place('queryables'),
    conformance: place('conformance'),
    aggregate: aggregateOf(doc, url, can),
    aggregations: place('aggregations'),
  };
  const known = Object.entries(optional).filter(([, value]) => value !== undefined);
  const isApi = conformsTo.length > 0 || optional.search !== undefined;
  return {
    url,
    doc,
    kind: isApi || optional.conformance || hasDataButNoChildren(doc) ? 'api' : 'static',
    conformsTo,
    can,
    ...Object.fromEntries(known),
  };
}

function searchOf(doc: Doc, url: URL, can: ReadonlySet<Capability>): Landing['search'] | undefined {
  const links = linksWith(doc, 'search').filter(({ href }) => targetOf(href, url) !== undefined);
  const [first] = links;
  // Advertised but not linked: the specification fixes the path.
  if (!first) {
    return can.has('item_search')
      ? { url: below(url, 'search'), get: true, post: false }
      : undefined;
  }
  const post = links.find(({ method }) => method === 'POST');
  const get = links.find(({ method }) => method === 'GET');
  // GET is required of every server, also of one that only links POST.
  return {
    url: targetOf((post ?? get ?? first).href, url)!,
    get: true,
    post: post !== undefined,
  };
}

function aggregateOf(
  doc: Doc,
  url: URL,
  can: ReadonlySet<Capability>,
): Landing['aggregate'] | undefined {
  const links = linksWith(doc, 'aggregate');
  const target = links[0] && targetOf(links[0].href, url);
  if (target) return { url: target, post: links.some(({ method }) => method === 'POST') };
  return can.has('aggregation') ? { url: below(url, 'aggregate'), post: false } : undefined;
}

function hasDataButNoChildren(doc: Doc): boolean {
  const has = (rel: string) => linkTo(doc, rel) !== undefined;
  return has('data') && !has('child') && !has('item') && textOf(doc['type']) !== 'Collection';
}
