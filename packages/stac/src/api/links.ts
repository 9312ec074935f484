import { docOf, docsOf, textOf, type Doc } from '../json.js';
import { parseTarget } from '../http/ssrf.js';
import { withoutTrailingSlashes } from '../text.js';

/** A link as STAC APIs write it, with what paging adds. */
export interface Link {
  readonly rel: string;
  readonly href: string;
  readonly type?: string | undefined;
  readonly title?: string | undefined;
  readonly method: 'GET' | 'POST';
  readonly headers?: Doc | undefined;
  readonly body?: Doc | undefined;
  /** Whether `body` and `headers` come on top of the request that led here. */
  readonly merge: boolean;
}

/** The links of a document; what has no relation or no address is no link. */
export function linksOf(doc: Doc): readonly Link[] {
  return docsOf(doc['links']).flatMap((link) => {
    const [rel, href] = [textOf(link['rel']), textOf(link['href'])];
    if (rel === undefined || href === undefined || href === '') return [];
    return {
      rel,
      href,
      type: textOf(link['type']),
      title: textOf(link['title']),
      method: textOf(link['method'])?.toUpperCase() === 'POST' ? 'POST' : 'GET',
      headers: docOf(link['headers']),
      body: docOf(link['body']),
      merge: link['merge'] === true,
    };
  });
}

/** Relations that have a short name and a long one. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  queryables: ['queryables', 'http://www.opengis.net/def/rel/ogc/1.0/queryables'],
  conformance: ['conformance', 'http://www.opengis.net/def/rel/ogc/1.0/conformance'],
  data: ['data', 'http://www.opengis.net/def/rel/ogc/1.0/data'],
};

export function linksWith(doc: Doc, rel: string): readonly Link[] {
  const names = aliases[rel] ?? [rel];
  return linksOf(doc).filter((link) => names.includes(link.rel));
}

/** The link of a relation; of several, the one that leads to JSON. */
export function linkTo(doc: Doc, rel: string): Link | undefined {
  const found = linksWith(doc, rel);
  return found.find(({ type }) => type === undefined || /json/i.test(type)) ?? found[0];
}

/**
 * Where a link leads. A catalogue behind a proxy may write `http:` links to a host that it serves
 * by `https:`; following them would send the query in clear.
 */
export function resolveLink(href: string, base: URL): URL {
  const url = parseTarget(href, base);
  if (base.protocol === 'https:' && url.protocol === 'http:' && url.hostname === base.hostname) {
    url.protocol = 'https:';
    if (url.port === '80' || url.port === '') url.port = base.port;
  }
  return url;
}

/** The same, undefined for a link that cannot be followed: a mistake of the catalogue, not an error of the call. */
export function targetOf(href: string, base: URL): URL | undefined {
  try {
    return resolveLink(href, base);
  } catch {
    return undefined;
  }
}

/** An address one level below another, whether or not that one ends with a slash. */
export function below(base: URL, ...segments: readonly string[]): URL {
  const url = new URL(base);
  const path = segments.map(encodeSegment).join('/');
  url.pathname = `${withoutTrailingSlashes(url.pathname)}/${path}`;
  return url;
}

/** A name must stay one segment: `..` and `.` would be taken for steps, even when escaped. */
function encodeSegment(name: string): string {
  return /^\.{1,2}$/.test(name) ? name.replaceAll('.', '%252E') : encodeURIComponent(name);
}
