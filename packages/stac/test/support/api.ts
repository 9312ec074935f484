import type { Handler, ReceivedRequest, Reply } from '@toolkeel/pack-kit/testing';

export interface ApiOptions {
  readonly conformsTo?: readonly string[];
  readonly post?: boolean;
  readonly items?: readonly Record<string, unknown>[];
  readonly collections?: readonly Record<string, unknown>[];
  readonly extraLinks?: (origin: string) => readonly Record<string, unknown>[];
  /** Called first; undefined selects the default reply. */
  readonly before?: (request: ReceivedRequest, count: number) => Reply | undefined;
}

const CORE = 'https://api.stacspec.org/v1.0.0/core';
const SEARCH = 'https://api.stacspec.org/v1.0.0/item-search';

export const classes = {
  core: CORE,
  search: SEARCH,
  query: `${SEARCH}#query`,
  sort: `${SEARCH}#sort`,
  fields: `${SEARCH}#fields`,
  filter: `${SEARCH}#filter`,
  text: 'http://www.opengis.net/spec/cql2/1.0/conf/cql2-text',
  json: 'http://www.opengis.net/spec/cql2/1.0/conf/cql2-json',
  aggregation: 'https://api.stacspec.org/v0.3.0/aggregation',
  collectionSearch: 'https://api.stacspec.org/v1.0.0-rc.1/collection-search',
  freeText: 'https://api.stacspec.org/v1.0.0-rc.1/collection-search#free-text',
};

export function item(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    id,
    collection: 'scenes',
    bbox: [10, 45, 11, 46],
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [10, 45],
          [11, 45],
          [11, 46],
          [10, 46],
          [10, 45],
        ],
      ],
    },
    properties: { datetime: '2024-06-01T10:00:00Z', 'eo:cloud_cover': 12, platform: 'sat-1' },
    links: [],
    assets: {
      red: { href: 'https://files.example/red.tif', type: 'image/tiff', 'file:size': 1000 },
    },
    ...more,
  };
}

export function collection(
  id: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    type: 'Collection',
    stac_version: '1.0.0',
    id,
    title: `Title of ${id}`,
    description: `All about ${id}`,
    license: 'CC-BY-4.0',
    extent: {
      spatial: { bbox: [[-180, -90, 180, 90]] },
      temporal: { interval: [['2015-01-01T00:00:00Z', null]] },
    },
    links: [],
    ...more,
  };
}

/** A small, configurable STAC API. */
export function api(options: ApiOptions = {}): Handler {
  const { conformsTo = [CORE, SEARCH], post = false, before } = options;
  const items = options.items ?? [item('a'), item('b')];
  const collections = options.collections ?? [collection('scenes'), collection('maps')];
  return (request, count) => {
    const early = before?.(request, count);
    if (early) return early;
    const { origin, method, params } = request;
    const path = decodeURIComponent(request.path);
    const under = (id: string) => `/collections/${id}`;
    if (path === '/') {
      return {
        json: {
          type: 'Catalog',
          stac_version: '1.0.0',
          id: 'test',
          title: 'A test',
          description: 'For tests',
          conformsTo,
          links: [
            { rel: 'data', href: `${origin}/collections` },
            { rel: 'search', href: `${origin}/search`, type: 'application/geo+json' },
            ...(post ? [{ rel: 'search', href: `${origin}/search`, method: 'POST' }] : []),
            ...(options.extraLinks?.(origin) ?? []),
          ],
        },
      };
    }
    if (path === '/search') {
      if (method === 'POST' && !post) return { status: 405, json: { message: 'not allowed' } };
      const limit = Number(method === 'POST' ? request.json['limit'] : params.get('limit'));
      return page(items.slice(0, limit), [], { numberMatched: items.length });
    }
    if (path === '/collections') return { json: { collections, links: [] } };
    const found = collections.find(({ id }) => path === under(String(id)));
    if (found) return { json: found };
    const one = items.find(
      ({ id, collection: of }) => path === `${under(String(of))}/items/${String(id)}`,
    );
    return one
      ? { json: one }
      : { status: 404, json: { code: 'NotFound', description: 'no such' } };
  };
}

export function page(
  features: readonly unknown[],
  links: readonly unknown[] = [],
  more: Record<string, unknown> = {},
): Reply {
  return { json: { type: 'FeatureCollection', features, links, ...more } };
}
