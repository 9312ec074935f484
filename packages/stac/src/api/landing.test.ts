import { describe, expect, it } from 'vitest';
import { readLanding } from './landing.js';

const url = new URL('https://a.example/v1');
const search = { rel: 'search', href: 'https://a.example/v1/search' };

describe('a landing page', () => {
  it('offers POST only where it links POST', () => {
    expect(readLanding({ links: [search] }, url).search).toMatchObject({ get: true, post: false });
    const both = { links: [search, { ...search, method: 'POST' }] };
    expect(readLanding(both, url).search).toMatchObject({ get: true, post: true });
    expect(readLanding({ links: [{ ...search, method: 'POST' }] }, url).search).toMatchObject({
      get: true,
    });
  });

  it('has a search where it advertises one, linked or not', () => {
    const conformsTo = ['https://api.stacspec.org/v1.0.0/item-search'];
    expect(readLanding({ conformsTo }, url).search?.url.href).toBe('https://a.example/v1/search');
    expect(readLanding({}, url).search).toBeUndefined();
  });

  it('tells files from a server', () => {
    const child = { rel: 'child', href: './x/collection.json' };
    expect(readLanding({ type: 'Catalog', links: [child] }, url).kind).toBe('static');
    expect(readLanding({ type: 'Collection', links: [] }, url).kind).toBe('static');
    expect(readLanding({ type: 'Catalog', links: [search, child] }, url).kind).toBe('api');
    expect(readLanding({ links: [{ rel: 'data', href: 'collections' }] }, url).kind).toBe('api');
    expect(readLanding({ conformsTo: ['x'], links: [] }, url).kind).toBe('api');
  });

  it('resolves relative links', () => {
    const landing = readLanding(
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
