import { describe, expect, test } from 'vitest';
import type { Flavour } from '@toolkeel/sandbox';
import { sendRequest, pages, type RequestOptions, type Link, type Page } from './support/client.js';
import { closeSandboxesAfterEach, sandbox } from './support/sandboxes.js';

closeSandboxesAfterEach();

const open = async (flavour: Flavour, traits = {}) => {
  const upstream = await sandbox({ flavour, traits, scale: 0.1 });
  return { ...upstream, at: (path: string) => upstream.url + path };
};

const nextOf = ({ links }: Page): Link => {
  const next = links.find(({ rel }) => rel === 'next');
  if (!next) throw new Error('there is no next page');
  return next;
};

describe('every flavour', () => {
  const flavours: Flavour[] = ['full', 'minimal', 'pgstac', 'earth-search', 'planetary-computer'];

  test.for(flavours)('%s pages through every item once', async (flavour) => {
    const { at, traits } = await open(flavour);
    const visit = async (url: string, asked: RequestOptions = {}): Promise<string[]> => {
      const ids: string[] = [];
      for await (const { features } of pages(url, asked)) ids.push(...features.map(({ id }) => id));
      return ids;
    };
    const byGet = await visit(at('/search?limit=67'));
    expect(new Set(byGet).size).toBe(byGet.length);
    expect(byGet.length).toBeGreaterThan(350);
    if (traits.postSearch)
      expect(await visit(at('/search'), { method: 'POST', body: { limit: 67 } })).toEqual(byGet);
    if (traits.features) {
      const landsat = byGet.filter((id) => id.startsWith('LC0'));
      expect(await visit(at('/collections/landsat-c2-l2/items?limit=25'))).toEqual(landsat);
    }
  });
});

test('full merges an opaque token', async () => {
  const { at } = await open('full');
  const { json } = await sendRequest<Page>(at('/search'), { method: 'POST', body: { limit: 2 } });
  expect(nextOf(json)).toMatchObject({
    method: 'POST',
    merge: true,
    body: { token: expect.any(String) },
  });
  expect(Object.keys(nextOf(json).body ?? {})).toEqual(['token']);
});

test('minimal has no POST, collections or filters, and old property names', async () => {
  const { at, url } = await open('minimal');
  const post = await sendRequest(at('/search'), { method: 'POST', body: {} });
  expect([post.status, post.headers['allow']]).toEqual([405, 'GET']);
  for (const path of [
    '/collections',
    '/conformance',
    '/queryables',
    '/aggregate',
    '/collections/naip/items',
  ])
    expect([path, (await sendRequest(at(path))).status]).toEqual([path, 404]);
  expect((await sendRequest(at('/collections/naip'))).status).toBe(200);
  const { json } = await sendRequest<{ conformsTo: string[]; links: Link[] }>(url);
  expect(json.conformsTo).toEqual([
    'https://api.stacspec.org/v1.0.0-rc.1/core',
    'https://api.stacspec.org/v1.0.0-rc.1/item-search',
  ]);
  expect(json.links.filter(({ rel }) => rel === 'search')).toEqual([
    { rel: 'search', href: '/search', type: 'application/geo+json' },
  ]);
  // It ignores unknown parameters, including filters.
  const filtered = await sendRequest<Page>(
    at('/search?limit=2&filter=eo:cloud_cover<0&sortby=id&fields=id'),
  );
  expect(filtered.json.features).toHaveLength(2);
  expect(nextOf(filtered.json).href).toMatch(/^\?limit=2&.*page=2$/);
  expect(filtered.json.numberMatched).toBeUndefined();
});

test('pgstac repeats the whole body, with a token of two lines', async () => {
  const { at, traits } = await open('pgstac');
  expect(traits.basePath).toBe('/stac');
  const body = { limit: 2, collections: ['naip'] };
  const { json } = await sendRequest<Page>(at('/search'), { method: 'POST', body });
  const next = nextOf(json);
  expect(next.merge).toBeUndefined();
  expect(next.body).toEqual({ ...body, token: expect.stringMatching(/^next:[\w+/=]+\n[\w+/=]+$/) });
  expect((await sendRequest(at('/aggregate'))).status).toBe(404);
  const collections = await sendRequest<Page>(at('/collections?limit=3'));
  expect(nextOf(collections.json).href).toContain('offset=3');
});

describe('earth-search', () => {
  test('does not merge, ends with an empty page, and requires qualified names', async () => {
    const { at } = await open('earth-search');
    const body = { limit: 2, collections: ['naip'] };
    const { json } = await sendRequest<Page>(at('/search'), { method: 'POST', body });
    expect(nextOf(json)).toMatchObject({
      merge: false,
      body: { ...body, next: expect.stringMatching(/^naip_.*,naip$/) },
    });
    const sizes: number[] = [];
    for await (const { features } of pages(at('/search?collections=naip&limit=8')))
      sizes.push(features.length);
    expect(sizes).toEqual([8, 8, 0]);
    expect((await sendRequest(at('/search?sortby=-datetime'))).text).toContain(
      'properties.datetime',
    );
    expect((await sendRequest(at('/search?sortby=-properties.datetime'))).status).toBe(200);
    expect((await sendRequest(at('/search?filter=gsd=10'))).status).toBe(400);
    const filter = { op: '=', args: [{ property: 'no_such_thing' }, 1] };
    const unknown = await sendRequest<Page>(at('/search'), { method: 'POST', body: { filter } });
    expect([unknown.status, unknown.json.features]).toEqual([200, []]);
  });

  test('has a gateway that rejects large responses', async () => {
    const { url } = await sandbox({ flavour: 'earth-search' });
    const large = await sendRequest(`${url}/search?limit=3000`);
    expect([large.status, large.json]).toEqual([502, { message: 'Internal server error' }]);
    expect((await sendRequest(`${url}/search?limit=500`)).status).toBe(200);
  });

  test('uses STAC 1.0', async () => {
    const { at } = await open('earth-search');
    const { json } = await sendRequest<Page>(at('/search?limit=1&collections=sentinel-2-l2a'));
    const [item] = json.features;
    expect(item).toMatchObject({
      stac_version: '1.0.0',
      properties: { 'proj:epsg': expect.any(Number) },
    });
    expect(item?.properties).not.toHaveProperty('proj:code');
    expect(item?.assets['red']).toMatchObject({
      'raster:bands': [{ data_type: 'uint16', nodata: 0 }],
      'eo:bands': [{ name: 'B04', common_name: 'red' }],
    });
    expect(json).toMatchObject({ context: { returned: 1, limit: 1 }, numberReturned: 1 });
  });
});

describe('planetary-computer', () => {
  test('requires signed asset URLs', async () => {
    const { at, signingUrl, assetsUrl, assetFacts, traits } = await open('planetary-computer');
    expect(traits.basePath).toBe('/api/stac/v1');
    const { json } = await sendRequest<Page>(at('/search?limit=200&collections=sentinel-2-l2a'));
    const [item, key] = json.features
      .flatMap((it) => assetFacts(it.collection, it.id).map((facts) => [it, facts] as const))
      .filter(([, facts]) => facts.behaviour === 'normal')
      .map(([it, facts]) => [it, facts.template.key] as const)[0] ?? [undefined, ''];
    const asset = item?.assets[key];
    const href = String(asset?.['href']);
    expect(href.startsWith(`${assetsUrl}/sentinel-2-l2a/`)).toBe(true);
    expect(new URL(href).origin).not.toBe(new URL(at('')).origin);
    expect(asset).not.toHaveProperty('file:size');
    expect((await sendRequest(href, { method: 'HEAD' })).status).toBe(404);
    for (const path of ['sentinel-2-l2a', 'toolkeelsandbox/sentinel-2-l2a']) {
      const { json: signed } = await sendRequest<{ token: string; 'msft:expiry': string }>(
        `${signingUrl}/${path}`,
      );
      expect(Date.parse(signed['msft:expiry'])).toBeGreaterThan(Date.now() + 60_000);
      expect((await sendRequest(`${href}?${signed.token}`, { method: 'HEAD' })).status).toBe(200);
      const other = href.replace('/sentinel-2-l2a/', '/landsat-c2-l2/');
      expect((await sendRequest(`${other}?${signed.token}`, { method: 'HEAD' })).status).toBe(403);
    }
    expect((await sendRequest(`${signingUrl}/none`)).status).toBe(404);
    expect((await sendRequest(`${signingUrl}/elsewhere/naip`)).status).toBe(404);
  });

  test('expires signatures', async () => {
    const { url, signingUrl } = await sandbox({
      flavour: 'planetary-computer',
      scale: 0.1,
      tokenLifetimeSeconds: 0,
    });
    const { json } = await sendRequest<Page>(`${url}/search?limit=1&collections=naip`);
    const { json: signed } = await sendRequest<{ token: string }>(`${signingUrl}/naip`);
    const href = String(json.features[0]?.assets['image']?.['href']);
    expect((await sendRequest(`${href}?${signed.token}`, { method: 'HEAD' })).status).toBe(403);
  });

  test('supports URLs like those of Azure', async () => {
    const base = 'http://toolkeelsandbox.blob.core.windows.net';
    const { url, log } = await sandbox({
      flavour: 'planetary-computer',
      scale: 0.1,
      assetBase: base,
    });
    const { json } = await sendRequest<Page>(`${url}/search?limit=1&collections=naip`);
    const href = String(json.features[0]?.assets['image']?.['href']);
    expect(href.startsWith(`${base}/naip/`)).toBe(true);
    await sendRequest(url.replace('/api/stac/v1', new URL(href).pathname), { method: 'HEAD' });
    expect(log().at(-1)).toMatchObject({ route: 'asset', status: 404 });
  });

  test('has its own error format, and HTML outages', async () => {
    const { at, setFaults } = await open('planetary-computer');
    expect((await sendRequest(at('/collections/none'))).json).toEqual({
      detail: expect.any(String),
    });
    expect((await sendRequest(at('/search?limit=1001'))).status).toBe(400);
    setFaults([{ kind: 'http-504' }]);
    const { status, headers, text } = await sendRequest(at('/search'));
    expect([status, headers['content-type']]).toEqual([504, 'text/html']);
    expect(text).toContain('<html>');
  });
});
