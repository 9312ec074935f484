import { objectOf, objectsOf, parseTarget, stringOf, type JsonObject } from '@toolkeel/pack-kit';

/** A STAC link, with the members that pagination adds. */
export interface Link {
  readonly rel: string;
  readonly href: string;
  readonly type?: string | undefined;
  readonly title?: string | undefined;
  readonly method: 'GET' | 'POST';
  readonly headers?: JsonObject | undefined;
  readonly body?: JsonObject | undefined;
  /** Whether `body` and `headers` extend those of the current request. */
  readonly merge: boolean;
}

/** The links of a document that have a relation and a URL. */
export function linksOf(doc: JsonObject): readonly Link[] {
  return objectsOf(doc['links']).flatMap((link) => {
    const [rel, href] = [stringOf(link['rel']), stringOf(link['href'])];
    if (rel === undefined || href === undefined || href === '') return [];
    return {
      rel,
      href,
      type: stringOf(link['type']),
      title: stringOf(link['title']),
      method: stringOf(link['method'])?.toUpperCase() === 'POST' ? 'POST' : 'GET',
      headers: objectOf(link['headers']),
      body: objectOf(link['body']),
      merge: link['merge'] === true,
    };
  });
}

/** Relations that also have a long name. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  queryables: ['queryables', 'http://www.opengis.net/def/rel/ogc/1.0/queryables'],
  conformance: ['conformance', 'http://www.opengis.net/def/rel/ogc/1.0/conformance'],
  data: ['data', 'http://www.opengis.net/def/rel/ogc/1.0/data'],
};

export function linksWith(doc: JsonObject, rel: string): readonly Link[] {
  const names = aliases[rel] ?? [rel];
  return linksOf(doc).filter((link) => names.includes(link.rel));
}

/** The link with a relation; among several, JSON is preferred. */
export function linkTo(doc: JsonObject, rel: string): Link | undefined {
  const found = linksWith(doc, rel);
  return found.find(({ type }) => type === undefined || /json/i.test(type)) ?? found[0];
}

/**
 * Resolves a link. Catalogues behind a proxy write `http:` links to a host that they serve by `https:`;
 * those are upgraded, so that queries are not sent in clear text.
 */
export function resolveLink(href: string, base: URL): URL {
  const url = parseTarget(href, base);
  if (base.protocol === 'https:' && url.protocol === 'http:' && url.hostname === base.hostname) {
    url.protocol = 'https:';
    if (url.port === '80' || url.port === '') url.port = base.port;
  }
  return url;
}

/** Like `resolveLink`, but undefined for an invalid link, which must not fail the call. */
export function targetOf(href: string, base: URL): URL | undefined {
  try {
    return resolveLink(href, base);
  } catch {
    return undefined;
  }
}
