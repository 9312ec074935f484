import { Ajv2020 } from 'ajv/dist/2020.js';
import proj4 from 'proj4';
import { describe, expect, test } from 'vitest';
import { ask, pages, type Item, type Link } from './support/client.js';
import { closeSandboxesAfterEach, sandbox } from './support/sandboxes.js';
import { createChecker } from './support/schemas.js';

closeSandboxesAfterEach();

const flavours = ['full', 'minimal', 'pgstac', 'earth-search', 'planetary-computer'] as const;

describe('answers of the API', () => {
  test.for(flavours)('of the flavour %s are what STAC demands', async (flavour) => {
    const { url, traits } = await sandbox({ flavour });
    const check = createChecker(traits.stacVersion);
    const at = (path: string) => `${url.replace(/\/$/, '')}${path}`;
    const landing = await ask<{ links: Link[] }>(url);
    expect(check('landing', landing.json)).toEqual([]);
    for (const { rel, href } of landing.json.links.filter(({ rel }) => rel === 'child')) {
      const { json } = await ask(new URL(href, url).href);
      expect([rel, ...check('collection', json)]).toEqual(['child']);
    }
    const search = await ask(at('/search?limit=300'));
    expect(search.headers['content-type']).toBe('application/geo+json');
    expect(check('itemCollection', search.json)).toEqual([]);
    if (!traits.features) return;
    expect(check('conformance', (await ask(at('/conformance'))).json)).toEqual([]);
    expect(check('collections', (await ask(at('/collections'))).json)).toEqual([]);
    const items = await ask(at('/collections/naip/items'));
    expect(check('itemCollection', items.json)).toEqual([]);
    for (const path of ['/queryables', '/collections/sentinel-1-grd/queryables']) {
      const queryables = await ask(at(path));
      expect(queryables.headers['content-type']).toBe('application/schema+json');
      expect(check('queryables', queryables.json)).toEqual([]);
      expect(new Ajv2020({ strict: false }).validateSchema(queryables.json)).toBe(true);
    }
    if (!traits.aggregation) return;
    const { json } = await ask<{ aggregations: { name: string }[] }>(at('/aggregations'));
    expect(check('aggregations', json)).toEqual([]);
    const names = json.aggregations.map(({ name }) => name).join();
    const aggregated = await ask(at(`/aggregate?aggregations=${names}`));
    expect(check('aggregate', aggregated.json)).toEqual([]);
  });

  test('hold for every item there is', async () => {
    const { url } = await sandbox();
    const check = createChecker();
    const found = new Map<string, number>();
    for await (const page of pages(`${url}search?limit=1000`)) {
      expect(check('itemCollection', page)).toEqual([]);
      for (const { collection } of page.features)
        found.set(collection, (found.get(collection) ?? 0) + 1);
    }
    expect(Object.fromEntries(found)).toMatchObject({
      'sentinel-2-l2a': 1800,
      'landsat-c2-l2': 900,
    });
    expect([...found.values()].reduce((sum, count) => sum + count)).toBeGreaterThan(3500);
  });

  test('errors have a code and a description', async () => {
    const { url } = await sandbox();
    const check = createChecker();
    for (const path of [
      'nowhere',
      'collections/none',
      'collections/naip/items/none',
      'search?limit=x',
    ]) {
      const { status, json, headers } = await ask(url + path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers['content-type']).toBe('application/json');
      expect(check('error', json)).toEqual([]);
    }
  });
});

describe('items', () => {
  const systemOf = (code: string): string => {
    const epsg = Number(code.split(':')[1]);
    if (epsg === 4326) return '+proj=longlat +datum=WGS84';
    return `+proj=utm +zone=${epsg % 100} ${epsg >= 32_700 ? '+south' : ''} +datum=WGS84`;
  };

  const positionsOf = ({ geometry }: Item): [number, number][] =>
    (geometry.coordinates as unknown[]).flat(geometry.type === 'Polygon' ? 1 : 2) as [
      number,
      number,
    ][];

  test('lie inside the raster that their projection describes', async () => {
    const { url } = await sandbox();
    let looked = 0;
    for (const collection of ['sentinel-2-l2a', 'landsat-c2-l2', 'naip', 'cop-dem-glo-30']) {
      const search = { method: 'POST', body: { collections: [collection], limit: 1000 } } as const;
      const { json } = await ask<{ features: Item[] }>(`${url}search`, search);
      for (const item of json.features) {
        const asset = Object.values(item.assets).find((it) => it['proj:transform']);
        const [step = 0, , left = 0, , , top = 0] = (asset?.['proj:transform'] ?? []) as number[];
        const [rows = 0, columns = 0] = (asset?.['proj:shape'] ?? []) as number[];
        const system = systemOf(String(item.properties['proj:code']));
        const zone = Number(/zone=(\d+)/.exec(system)?.[1] ?? 0);
        for (const position of positionsOf(item)) {
          // A zone at the antimeridian goes on beyond it.
          const lon =
            zone === 60 && position[0] < 0
              ? position[0] + 360
              : zone === 1 && position[0] > 0
                ? position[0] - 360
                : position[0];
          const [x = 0, y = 0] = proj4('+proj=longlat +datum=WGS84', system, [lon, position[1]]);
          const slack = rows * step * 0.002; // straight lines on the globe are bent on the plane
          expect(x).toBeGreaterThan(left - slack);
          expect(x).toBeLessThan(left + columns * step + slack);
          expect(y).toBeLessThan(top + slack);
          expect(y).toBeGreaterThan(top - rows * step - slack);
        }
        looked += 1;
      }
    }
    expect(looked).toBeGreaterThan(2000);
  });

  test('have boxes around their geometry, and some cross the antimeridian or come near a pole', async () => {
    const { url } = await sandbox();
    const all: Item[] = [];
    for await (const page of pages(`${url}search?limit=2000`)) all.push(...page.features);
    for (const item of all) {
      const [west, south, east, north] = item.bbox;
      for (const [lon, lat] of positionsOf(item)) {
        expect(west <= east ? lon >= west && lon <= east : lon >= west || lon <= east).toBe(true);
        expect(lat >= south && lat <= north).toBe(true);
      }
    }
    const crossing = all.filter(({ bbox }) => bbox[0] > bbox[2]);
    expect(crossing.length).toBeGreaterThan(50);
    expect(crossing.every(({ geometry }) => geometry.type === 'MultiPolygon')).toBe(true);
    expect(all.some(({ bbox }) => bbox[3] > 82)).toBe(true);
    expect(all.some(({ bbox }) => bbox[1] < -77)).toBe(true);
    expect(new Set(all.map(({ id, collection }) => `${collection}/${id}`)).size).toBe(all.length);
    const years = new Set(all.map(({ properties }) => String(properties['datetime']).slice(0, 4)));
    expect(years.size).toBeGreaterThan(10);
  });

  test('leave work for those who estimate sizes', async () => {
    const { url } = await sandbox();
    const { json } = await ask<{ features: Item[] }>(`${url}search?limit=2000`);
    const images = json.features
      .flatMap(({ assets }) => Object.values(assets))
      .filter(({ type }) => String(type).startsWith('image/tiff'));
    const share = (holds: (asset: Item['assets'][string]) => boolean) =>
      images.filter(holds).length / images.length;
    expect(share((asset) => asset['file:size'] !== undefined)).toBeGreaterThan(0.5);
    expect(
      share((asset) => !asset['file:size'] && asset['proj:shape'] !== undefined),
    ).toBeGreaterThan(0.05);
    expect(share((asset) => !asset['file:size'] && !asset['proj:shape'])).toBeGreaterThan(0.01);
  });

  test('lie within what their collection says', async () => {
    const { url } = await sandbox();
    for (const id of ['sentinel-2-l2a', 'naip', 'sea-ice-monthly']) {
      const { json } = await ask<{
        extent: { spatial: { bbox: number[][] }; temporal: { interval: (string | null)[][] } };
      }>(`${url}collections/${id}`);
      const [west = 0, south = 0, east = 0, north = 0] = json.extent.spatial.bbox[0] ?? [];
      const [[from, to] = []] = json.extent.temporal.interval;
      const items = await ask<{ features: Item[] }>(`${url}collections/${id}/items?limit=500`);
      for (const { bbox, properties } of items.json.features) {
        expect(bbox[0] >= west && bbox[2] <= east && bbox[1] >= south && bbox[3] <= north).toBe(
          true,
        );
        const time = String(properties['datetime']);
        expect(time >= String(from) && (to == null || time <= to)).toBe(true);
      }
    }
  });
});
