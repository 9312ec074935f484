import { describe, expect, test } from 'vitest';
import { sendRequest, pages, type Item, type Link, type Page } from './support/client.js';
import { sendRaw } from './support/raw.js';
import { closeSandboxesAfterEach, sandbox, tiny } from './support/sandboxes.js';

closeSandboxesAfterEach();

describe('invalid parameters', () => {
  test.for([
    'bbox=1,2,3',
    'bbox=a,b,c,d',
    'bbox=0,10,1,5',
    'bbox=-190,0,1,1',
    'bbox=0,0,1,91',
    'bbox=0,0,10,1,1,5',
    'bbox=0,0,1,1&intersects={"type":"Point","coordinates":[0,0]}',
    'intersects={"type":"Feature"}',
    'intersects={"type":"Point","coordinates":["a",1]}',
    'intersects={"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,0.5]]]}',
    'intersects=nonsense',
    'datetime=2020',
    'datetime=2020-01-01',
    'datetime=../..',
    'datetime=/',
    'datetime=2021-01-01T00:00:00Z/2020-01-01T00:00:00Z',
    'datetime=2021-02-30T00:00:00Z',
    'datetime=2021-01-01T00:00:00',
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=ten',
    'limit=10001',
    'token=made-up',
    'sortby=datetime&surprise=1',
    'query={"gsd":{"near":3}}',
    'query=[]',
    'filter=eo:cloud_cover <',
    "filter=eo:cloud_cover < 5 AND (platform = 'x'",
    'filter=unknown_property = 1',
    'filter=eo:cloud_cover LIKES 5',
    'filter=a=1&filter-lang=cql-text',
    'filter={"op":"=","args":[1]}&filter-lang=cql2-json',
    'filter={"op":"explode","args":[]}&filter-lang=cql2-json',
    "filter=T_AFTER(datetime, TIMESTAMP('yesterday'))",
    'filter=S_INTERSECTS(platform, POINT(0 0))',
  ])('are rejected: %s', async (parameters) => {
    const { url } = await tiny();
    const query = new URLSearchParams();
    for (const pair of parameters.split('&')) {
      const [name = '', ...value] = pair.split('=');
      query.set(name, value.join('='));
    }
    const { status, json } = await sendRequest(`${url}/search?${query.toString()}`);
    expect([status, json]).toEqual([
      400,
      { code: 'InvalidParameterValue', description: expect.stringMatching(/^[\w-]+: /) },
    ]);
  });

  test.for([
    [{ collections: 'naip' }, 400],
    [{ ids: [1] }, 400],
    [{ bbox: '0,0,1,1' }, 400],
    [{ limit: '5' }, 400],
    [{ sortby: [{ direction: 'asc' }] }, 400],
    [{ sortby: [{ field: 'id', direction: 'up' }] }, 400],
    [{ fields: { include: 'id' } }, 400],
    [{ datetime: 5 }, 400],
    [[], 400],
  ] as const)('are rejected in a body: %j', async ([body, expected]) => {
    const { url } = await tiny();
    expect((await sendRequest(`${url}/search`, { method: 'POST', body })).status).toBe(expected);
  });

  test('a body that is not JSON, or without its content type, is rejected', async () => {
    const { url } = await tiny();
    const post = { method: 'POST', path: '/search', body: '{"limit":' };
    expect((await sendRaw(url, post)).status).toBe(400);
    const headers = { 'content-type': 'text/plain' };
    expect((await sendRaw(url, { ...post, headers })).status).toBe(415);
  });

  test('an unsupported method is rejected', async () => {
    const { url } = await tiny();
    const { status, headers } = await sendRequest(`${url}/conformance`, {
      method: 'POST',
      body: {},
    });
    expect([status, headers['allow']]).toEqual([405, 'GET']);
  });
});

describe('fields', () => {
  const one = async (query: string, flavour: 'full' | 'pgstac' = 'full'): Promise<Item> => {
    const { url } = await tiny({ flavour });
    const address = `${url}/search?limit=1&collections=naip&${query}`;
    const { json } = await sendRequest<Page>(address);
    return json.features[0] as Item;
  };

  const basic = 'type stac_version id collection geometry bbox links assets properties'.split(' ');

  test('are added to the default set, and excluded from it', async () => {
    expect(Object.keys(await one('fields='))).toEqual(basic);
    const more = await one('fields=properties.gsd,-links,-assets');
    expect(Object.keys(more)).toEqual(
      basic.filter((name) => name !== 'links' && name !== 'assets'),
    );
    expect(Object.keys(more.properties)).toEqual(['datetime', 'gsd']);
    const less = await one('fields=properties,-properties.datetime');
    expect(less.properties).not.toHaveProperty('datetime');
    expect(less.properties).toHaveProperty('gsd');
    const deep = await one('fields=stac_extensions,assets.image,-assets');
    expect(deep).not.toHaveProperty('assets');
    expect(deep).toHaveProperty('stac_extensions');
  });

  test('replace the default set on some servers', async () => {
    expect(await one('fields=properties.gsd,assets.thumbnail.href', 'pgstac')).toEqual({
      id: expect.any(String),
      collection: 'naip',
      properties: { gsd: 0.6 },
    });
    expect(Object.keys(await one('fields=-properties', 'pgstac'))).not.toContain('properties');
  });
});

describe('documents', () => {
  test('link to each other', async () => {
    const { url } = await sandbox();
    const { json } = await sendRequest<Page>(`${url}/search?limit=3&collections=landsat-c2-l2`);
    for (const item of json.features) {
      const at = (rel: string) => item.links.find((link) => link.rel === rel)?.href ?? '';
      expect((await sendRequest(at('self'))).json).toEqual(item);
      expect((await sendRequest(at('collection'))).json).toMatchObject({ id: item.collection });
      expect((await sendRequest(at('root'))).json).toMatchObject({ type: 'Catalog' });
    }
    const landing = await sendRequest<{ links: Link[]; conformsTo: string[] }>(url);
    for (const { href, rel, method = 'GET' } of landing.json.links) {
      const body = method === 'POST' ? { body: {} } : {};
      expect([
        rel,
        (await sendRequest(new URL(href, url).href, { method, ...body })).status,
      ]).toEqual([rel, 200]);
    }
    expect((await sendRequest(`${url}/conformance`)).json).toEqual({
      conformsTo: landing.json.conformsTo,
    });
    const description = landing.json.links.find(({ rel }) => rel === 'service-desc');
    expect((await sendRequest(description?.href ?? '')).headers['content-type']).toContain(
      'openapi',
    );
  });

  test('have ETags and support conditional requests', async () => {
    const { url } = await tiny();
    for (const path of ['', 'conformance', 'collections', 'collections/naip', 'queryables']) {
      const { headers } = await sendRequest(`${url}/${path}`);
      const etag = String(headers['etag']);
      const again = await sendRequest(`${url}/${path}`, {
        headers: { 'if-none-match': `"other", ${etag}` },
      });
      expect([path, again.status, again.text, again.headers['etag']]).toEqual([
        path,
        304,
        '',
        etag,
      ]);
      expect(
        (await sendRequest(`${url}/${path}`, { headers: { 'if-none-match': '"other"' } })).status,
      ).toBe(200);
    }
  });

  test('support HEAD', async () => {
    const { url } = await tiny();
    const { status, text, headers } = await sendRequest(url, { method: 'HEAD' });
    expect([status, text, headers['content-type']]).toEqual([200, '', 'application/json']);
    expect(headers['content-length']).toBe(String((await sendRequest(url)).text.length));
  });
});

describe('collections', () => {
  interface Collections {
    readonly collections: readonly { readonly id: string }[];
    readonly links: readonly Link[];
  }
  const idsAt = async (url: string): Promise<string[]> => {
    const ids: string[] = [];
    for await (const page of pages(url))
      ids.push(...(page as unknown as Collections).collections.map(({ id }) => id));
    return ids;
  };

  test('are paged', async () => {
    const { url } = await tiny();
    const all = await idsAt(`${url}/collections`);
    expect(all).toHaveLength(10);
    expect(new Set(all).size).toBe(10);
    expect((await sendRequest<Collections>(`${url}/collections`)).json.collections).toHaveLength(4);
    expect(await idsAt(`${url}/collections?limit=3`)).toEqual(all);
    expect((await sendRequest(`${url}/collections?token=x`)).status).toBe(400);
  });

  test('are searched by words, area and time', async () => {
    const { url } = await sandbox();
    expect(await idsAt(`${url}/collections?q=RADAR`)).toEqual(['sentinel-1-grd']);
    expect(await idsAt(`${url}/collections?q=sea ice,elevation`)).toEqual([
      'cop-dem-glo-30',
      'sea-ice-monthly',
    ]);
    const america = await idsAt(`${url}/collections?bbox=-100,38,-90,45`);
    expect(america).toContain('naip');
    expect(await idsAt(`${url}/collections?bbox=40,0,50,10`)).not.toContain('naip');
    const past = await idsAt(`${url}/collections?datetime=../2012-01-01T00:00:00Z`);
    expect(past).toContain('cop-dem-glo-30');
    expect(past).not.toContain('sentinel-2-l2a');
    expect(await idsAt(`${url}/collections?datetime=2031-01-01T00:00:00Z/..`)).toContain(
      'future-mission',
    );
    expect(await idsAt(`${url}/collections?q=nothing like it`)).toEqual([]);
  });
});

describe('aggregation', () => {
  interface Aggregated {
    readonly aggregations: readonly {
      readonly name: string;
      readonly value?: unknown;
      readonly buckets?: readonly { readonly key: string; readonly frequency: number }[];
    }[];
  }

  test('counts the results of a search', async () => {
    const { url } = await sandbox();
    const names =
      'total_count,datetime_min,datetime_max,collection_frequency,datetime_frequency,cloud_cover_frequency,platform_frequency';
    const criteria = 'bbox=-10,40,20,60&datetime=2019-01-01T00:00:00Z/..';
    const { json } = await sendRequest<Aggregated>(
      `${url}/aggregate?aggregations=${names}&${criteria}`,
    );
    const { json: found } = await sendRequest<Page>(`${url}/search?limit=10000&${criteria}`);
    const by = new Map(json.aggregations.map((it) => [it.name, it]));
    expect([...by.keys()]).toEqual(names.split(','));
    expect(by.get('total_count')?.value).toBe(found.features.length);
    const sum = (name: string) =>
      by.get(name)?.buckets?.reduce((total, { frequency }) => total + frequency, 0);
    expect(sum('collection_frequency')).toBe(found.features.length);
    expect(sum('datetime_frequency')).toBe(found.features.length);
    const clouded = found.features.filter(
      (item) => item.properties['eo:cloud_cover'] !== undefined,
    );
    expect(sum('cloud_cover_frequency')).toBe(clouded.length);
    const times = found.features
      .map(({ properties }) => String(properties['start_datetime'] ?? properties['datetime']))
      .toSorted();
    expect(by.get('datetime_min')?.value).toBe(times[0]);
    expect(by.get('datetime_max')?.value).toBe(times.at(-1));
  });

  test('accepts filters in a body, is limited to a collection, and rejects unknown names', async () => {
    const { url } = await sandbox();
    const filter = { op: '<', args: [{ property: 'eo:cloud_cover' }, 20] };
    const body = { aggregations: ['total_count'], filter };
    const whole = await sendRequest<Aggregated>(`${url}/aggregate`, { method: 'POST', body });
    const part = await sendRequest<Aggregated>(`${url}/collections/landsat-c2-l2/aggregate`, {
      method: 'POST',
      body,
    });
    const [all, some] = [whole, part].map(({ json }) => Number(json.aggregations[0]?.value));
    expect(some).toBeGreaterThan(0);
    expect(all).toBeGreaterThan(some ?? 0);
    expect((await sendRequest(`${url}/aggregate?aggregations=beauty`)).status).toBe(400);
    expect((await sendRequest<Aggregated>(`${url}/aggregate`)).json.aggregations).toEqual([]);
    expect((await sendRequest(`${url}/collections/none/aggregate`)).status).toBe(404);
  });
});

describe('a required header', () => {
  test('is required by the API, not by the storage', async () => {
    const required = { name: 'X-Api-Key', value: 'sesame' };
    const { url, log } = await tiny({ requiredHeader: required });
    const refused = await sendRequest(url);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      'Bearer realm="sandbox"',
    ]);
    expect((await sendRequest(url, { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
    const headers = { 'x-api-key': 'sesame' };
    const { json } = await sendRequest<Page>(`${url}/search?limit=1`, { headers });
    const href = String(Object.values(json.features[0]?.assets ?? {})[0]?.['href']);
    expect((await sendRequest(href, { method: 'HEAD' })).status).not.toBe(401);
    // The log has the names of headers, not their values.
    expect(log().map((entry) => entry.headers.includes('x-api-key'))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(JSON.stringify(log())).not.toContain('sesame');
  });
});
