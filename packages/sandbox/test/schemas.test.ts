import { Ajv2020 } from 'ajv/dist/2020.js';
import proj4 from 'proj4';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStacSandbox, type StacSandbox } from '@toolkeel/sandbox';
import { sendRequest, pages, type Item, type Link, type Page } from './support/client.js';
import { closeSandboxesAfterEach, sandbox } from './support/sandboxes.js';
import { checkerOf } from './support/schemas.js';

closeSandboxesAfterEach();

const flavours = ['full', 'minimal', 'pgstac', 'earth-search', 'planetary-computer'] as const;

describe('API responses', () => {
  test.for(flavours)('of the flavour %s match the STAC schemas', async (flavour) => {
    const { url, traits } = await sandbox({ flavour, scale: 0.2 });
    const check = checkerOf(traits.stacVersion);
    const at = (path: string) => `${url}${path}`;
    const landing = await sendRequest<{ links: Link[] }>(url);
    expect(check('landing', landing.json)).toEqual([]);
    for (const { rel, href } of landing.json.links.filter(({ rel }) => rel === 'child')) {
      const { json } = await sendRequest(new URL(href, url).href);
      expect([rel, ...check('collection', json)]).toEqual(['child']);
    }
    const search = await sendRequest(at('/search?limit=150'));
    expect(search.headers['content-type']).toBe('application/geo+json');
    expect(check('itemCollection', search.json)).toEqual([]);
    if (!traits.features) return;
    expect(check('conformance', (await sendRequest(at('/conformance'))).json)).toEqual([]);
    expect(check('collections', (await sendRequest(at('/collections'))).json)).toEqual([]);
    const items = await sendRequest(at('/collections/naip/items'));
    expect(check('itemCollection', items.json)).toEqual([]);
    for (const path of ['/queryables', '/collections/sentinel-1-grd/queryables']) {
      const queryables = await sendRequest(at(path));
      expect(queryables.headers['content-type']).toBe('application/schema+json');
      expect(check('queryables', queryables.json)).toEqual([]);
      expect(new Ajv2020({ strict: false }).validateSchema(queryables.json)).toBe(true);
    }
    if (!traits.aggregation) return;
    const { json } = await sendRequest<{ aggregations: { name: string }[] }>(at('/aggregations'));
    expect(check('aggregations', json)).toEqual([]);
    const names = json.aggregations.map(({ name }) => name).join();
    const aggregated = await sendRequest(at(`/aggregate?aggregations=${names}`));
    expect(check('aggregate', aggregated.json)).toEqual([]);
  });

  test('errors have a code and a description', async () => {
    const { url } = await sandbox();
    const check = checkerOf();
    for (const path of [
      'nowhere',
      'collections/none',
      'collections/naip/items/none',
      'search?limit=x',
    ]) {
      const { status, json, headers } = await sendRequest(`${url}/${path}`);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers['content-type']).toBe('application/json');
      expect(check('error', json)).toEqual([]);
    }
  });
});

describe('every item', () => {
  let upstream: StacSandbox;
  const dump: Page[] = [];
  const all: Item[] = [];

  beforeAll(async () => {
    upstream = await startStacSandbox();
    for await (const page of pages(`${upstream.url}/search?limit=1000`)) {
      dump.push(page);
      all.push(...page.features);
    }
  });
  afterAll(() => upstream.close());

  const systemOf = (code: string): string => {
    const epsg = Number(code.split(':')[1]);
    if (epsg === 4326) return '+proj=longlat +datum=WGS84';
    return `+proj=utm +zone=${epsg % 100} ${epsg >= 32_700 ? '+south' : ''} +datum=WGS84`;
  };

  const projector = (system: string) => proj4('+proj=longlat +datum=WGS84', system);
  const projections = new Map<string, ReturnType<typeof projector>>();
  const projectionOf = (system: string) => {
    const known = projections.get(system) ?? projector(system);
    projections.set(system, known);
    return known;
  };

  const positionsOf = ({ geometry }: Item): [number, number][] =>
    (geometry.coordinates as unknown[]).flat(geometry.type === 'Polygon' ? 1 : 2) as [
      number,
      number,
    ][];

  test('matches the STAC schemas', () => {
    const check = checkerOf();
    for (const page of dump) expect(check('itemCollection', page)).toEqual([]);
    const count = (collection: string) => all.filter((it) => it.collection === collection).length;
    expect([count('sentinel-2-l2a'), count('landsat-c2-l2')]).toEqual([1800, 900]);
    expect(all.length).toBeGreaterThan(3500);
    expect(new Set(all.map(({ id, collection }) => `${collection}/${id}`)).size).toBe(all.length);
    const years = new Set(all.map(({ properties }) => String(properties['datetime']).slice(0, 4)));
    expect(years.size).toBeGreaterThan(10);
  });

  test('lies inside the raster that its projection describes', () => {
    const projected = ['sentinel-2-l2a', 'landsat-c2-l2', 'naip', 'cop-dem-glo-30'];
    const looked = all.filter(({ collection }) => projected.includes(collection));
    const outside = looked.filter((item) => {
      const asset = Object.values(item.assets).find((it) => it['proj:transform']);
      const [step = 0, , left = 0, , , top = 0] = (asset?.['proj:transform'] ?? []) as number[];
      const [rows = 0, columns = 0] = (asset?.['proj:shape'] ?? []) as number[];
      const system = systemOf(String(item.properties['proj:code']));
      const zone = Number(/zone=(\d+)/.exec(system)?.[1] ?? 0);
      const slack = rows * step * 0.002; // straight lines on the globe are curved on the plane
      return positionsOf(item).some(([lon, lat]) => {
        // A zone at the antimeridian extends beyond it.
        const east = zone === 60 && lon < 0 ? lon + 360 : zone === 1 && lon > 0 ? lon - 360 : lon;
        const [x, y] = projectionOf(system).forward([east, lat]);
        const [right, bottom] = [left + columns * step, top - rows * step];
        return x < left - slack || x > right + slack || y > top + slack || y < bottom - slack;
      });
    });
    expect(outside).toEqual([]);
    expect(looked.length).toBeGreaterThan(2900);
  });

  test('has a bbox around its geometry; some cross the antimeridian or lie near a pole', () => {
    const loose = all.filter((item) => {
      const [west, south, east, north] = item.bbox;
      return positionsOf(item).some(
        ([lon, lat]) =>
          lat < south ||
          lat > north ||
          (west <= east ? lon < west || lon > east : lon < west && lon > east),
      );
    });
    expect(loose).toEqual([]);
    const crossing = all.filter(({ bbox }) => bbox[0] > bbox[2]);
    expect(crossing.length).toBeGreaterThan(50);
    expect(crossing.every(({ geometry }) => geometry.type === 'MultiPolygon')).toBe(true);
    expect(all.some(({ bbox }) => bbox[3] > 82)).toBe(true);
    expect(all.some(({ bbox }) => bbox[1] < -77)).toBe(true);
  });

  test('declares sizes for some assets only', () => {
    const images = all
      .flatMap(({ assets }) => Object.values(assets))
      .filter(({ type }) => String(type).startsWith('image/tiff'));
    const share = (holds: (asset: Item['assets'][string]) => boolean) =>
      images.filter(holds).length / images.length;
    const [size, shape] = ['file:size', 'proj:shape'];
    expect(share((asset) => asset[size] !== undefined)).toBeGreaterThan(0.5);
    expect(share((asset) => !asset[size] && asset[shape] !== undefined)).toBeGreaterThan(0.05);
    expect(share((asset) => !asset[size] && !asset[shape])).toBeGreaterThan(0.01);
  });

  test('lies within its collection’s extent', async () => {
    for (const id of ['sentinel-2-l2a', 'naip', 'sea-ice-monthly']) {
      const { json } = await sendRequest<{
        extent: { spatial: { bbox: number[][] }; temporal: { interval: (string | null)[][] } };
      }>(`${upstream.url}/collections/${id}`);
      const [west = 0, south = 0, east = 0, north = 0] = json.extent.spatial.bbox[0] ?? [];
      const [[from, to] = []] = json.extent.temporal.interval;
      const outside = all.filter(({ collection, bbox, properties }) => {
        const time = String(properties['datetime']);
        const inside = bbox[0] >= west && bbox[2] <= east && bbox[1] >= south && bbox[3] <= north;
        const during = time >= String(from) && (to == null || time <= to);
        return collection === id && !(inside && during);
      });
      expect(outside).toEqual([]);
    }
  });
});
