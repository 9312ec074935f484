import { describe, expect, it } from 'vitest';
import { capabilitiesFrom, includesClass, parseLandingPage, type Capability } from './landing.js';

const url = new URL('https://a.example/v1');
const search = { rel: 'search', href: 'https://a.example/v1/search' };

describe('a landing page', () => {
  it('offers POST only if it links POST', () => {
    expect(parseLandingPage({ links: [search] }, url).search).toMatchObject({
      get: true,
      post: false,
    });
    const both = { links: [search, { ...search, method: 'POST' }] };
    expect(parseLandingPage(both, url).search).toMatchObject({ get: true, post: true });
    expect(parseLandingPage({ links: [{ ...search, method: 'POST' }] }, url).search).toMatchObject({
      get: true,
    });
  });

  it('has a search if it advertises one, linked or not', () => {
    const conformsTo = ['https://api.stacspec.org/v1.0.0/item-search'];
    expect(parseLandingPage({ conformsTo }, url).search?.url.href).toBe(
      'https://a.example/v1/search',
    );
    expect(parseLandingPage({}, url).search).toBeUndefined();
  });

  it('distinguishes static catalogues from servers', () => {
    const child = { rel: 'child', href: './x/collection.json' };
    expect(parseLandingPage({ type: 'Catalog', links: [child] }, url).kind).toBe('static');
    expect(parseLandingPage({ type: 'Collection', links: [] }, url).kind).toBe('static');
    expect(parseLandingPage({ type: 'Catalog', links: [search, child] }, url).kind).toBe('api');
    expect(parseLandingPage({ links: [{ rel: 'data', href: 'collections' }] }, url).kind).toBe(
      'api',
    );
    expect(parseLandingPage({ conformsTo: ['x'], links: [] }, url).kind).toBe('api');
  });

  it('resolves relative links', () => {
    const landing = parseLandingPage(
      {
        links: [
          { rel: 'data', href: './v1/collections' },
          { rel: 'aggregate', href: '/v1/aggregate' },
        ],
      },
      url,
    );
    expect(landing.collections?.href).toBe('https://a.example/v1/collections');
    expect(landing.aggregate?.url.href).toBe('https://a.example/v1/aggregate');
  });
});

describe('conformance', () => {
  it.each<[string, Capability]>([
    ['https://api.stacspec.org/v1.0.0/core', 'core'],
    ['https://api.stacspec.org/v1.0.0-beta.5/item-search', 'item_search'],
    ['https://api.stacspec.org/v1.1.0/item-search', 'item_search'],
    ['https://api.stacspec.org/v1.0.0-rc.2/item-search#query', 'query'],
    ['https://api.stacspec.org/v1.0.0/item-search#sort', 'sort'],
    ['https://api.stacspec.org/v1.0.0/item-search#fields', 'fields'],
    ['https://api.stacspec.org/v1.0.0-rc.3/item-search#filter', 'filter'],
    ['http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/filter', 'filter'],
    ['http://www.opengis.net/spec/cql2/1.0/conf/cql2-text', 'cql2_text'],
    ['http://www.opengis.net/spec/cql2/1.0/conf/cql2-json', 'cql2_json'],
    ['https://api.stacspec.org/v1.0.0-beta.2/item-search#filter:cql-text', 'cql2_text'],
    ['https://api.stacspec.org/v0.3.0/aggregation', 'aggregation'],
    ['https://api.stacspec.org/v1.0.0-rc.1/collection-search', 'collection_search'],
    ['https://api.stacspec.org/v1.0.0-rc.1/collection-search#free-text', 'collection_free_text'],
    ['https://api.stacspec.org/v1.0.0/ogcapi-features', 'features'],
    ['http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core', 'features'],
    ['https://api.stacspec.org/v1.0.0-rc.3/ogcapi-features/extensions/transaction', 'transaction'],
    ['https://api.stacspec.org/v1.0.0/item-search/#query', 'query'],
    ['https://api.stacspec.org/v1.0.0/item-search/#filter', 'filter'],
    ['https://api.stacspec.org/v1.0.0-rc.1/collection-search/#free-text', 'collection_free_text'],
    ['http://www.opengis.net/spec/cql2/1.0/req/cql2-text', 'cql2_text'],
    ['http://www.opengis.net/spec/cql2/1.0/req/cql2-json', 'cql2_json'],
    ['http://www.opengis.net/spec/ogcapi-features-3/1.0/req/filter', 'filter'],
  ])('%s means %s', (uri, capability) => {
    expect([...capabilitiesFrom([uri])]).toContain(capability);
    expect([...capabilitiesFrom([`${uri}/`])]).toContain(capability);
  });

  it('does not confuse classes', () => {
    expect([...capabilitiesFrom(['https://api.stacspec.org/v1.0.0/item-search#query'])]).toEqual([
      'query',
    ]);
    expect([...capabilitiesFrom(['https://api.stacspec.org/v0.3.0/aggregation#filter'])]).toEqual(
      [],
    );
    expect([...capabilitiesFrom([])]).toEqual([]);
  });

  it('recognises a class in another version', () => {
    const classes = ['https://api.stacspec.org/v1.0.0-rc.1/item-search#sort'];
    expect(includesClass(classes, 'https://api.stacspec.org/v1.0.0/item-search#sort')).toBe(true);
    expect(includesClass(classes, 'https://api.stacspec.org/v1.0.0/item-search')).toBe(false);
    expect(
      includesClass(
        ['https://api.stacspec.org/v1.0.0/item-search/#sort'],
        'https://api.stacspec.org/v1.0.0/item-search#sort',
      ),
    ).toBe(true);
    expect(
      includesClass(
        ['http://www.opengis.net/spec/cql2/1.0/conf/cql2-json'],
        'http://www.opengis.net/spec/cql2/0.0/conf/cql2-json',
      ),
    ).toBe(true);
  });
});
