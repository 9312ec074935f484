/**
 * CPU bounds for hostile arguments and responses: a deadline cannot end work that blocks the event
 * loop. The tests measure CPU time, which does not depend on the load of the machine; each threshold
 * is many times what the bounded algorithm takes and a small part of what the unbounded one
 * took.
 */
import { describe, expect, it } from 'vitest';
import { api, classes, item } from './support/api.js';
import type { Reply } from '@toolkeel/pack-kit/testing';
import { useHarness } from './support/rig.js';

const { setup, serve, createRig } = useHarness();

/** CPU time in milliseconds. */
async function costOf(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

type Ring = [number, number][];

/** A ring with nearly the maximum number of self-intersections. */
const star = (corners: number): Ring => {
  const ring = Array.from({ length: corners }, (_, index): [number, number] => {
    const angle = (index * 2.399963) % (2 * Math.PI);
    const distance = index % 2 ? 0.45 : 0.05;
    return [10.5 + distance * Math.cos(angle * 7), 45.5 + distance * Math.sin(angle * 7)];
  });
  return [...ring, ring[0]!];
};
const circle = (corners: number): Ring => {
  const ring = Array.from({ length: corners }, (_, index): [number, number] => {
    const angle = (index / corners) * 2 * Math.PI;
    return [10.5 + 0.4 * Math.cos(angle), 45.5 + 0.4 * Math.sin(angle)];
  });
  return [...ring, ring[0]!];
};
/** Two of these, one rotated by 90°, intersect everywhere. */
const comb = (teeth: number, turned: boolean): Ring => {
  const ring = Array.from({ length: teeth }, (_, index): Ring => {
    const at = index / teeth;
    return [
      [at, 0.1],
      [at + 0.3 / teeth, 1],
      [at + 0.6 / teeth, 0.1],
    ];
  }).flat();
  const closed: Ring = [...ring, [1, 0], [0, 0], ring[0]!];
  return closed.map(([x, y]) => (turned ? [10 + y, 45 + x] : [10 + x, 45 + y]));
};
const polygon = (ring: Ring) => ({ type: 'Polygon', coordinates: [ring] });

describe('a geometry does not block the event loop', () => {
  const bbox = [9, 44, 12, 47];

  it.each([
    ['crosses itself', star(300), circle(10)],
    ['has very many corners', circle(40_000), circle(10)],
    ['meets a footprint that crosses itself', circle(10), star(500)],
    ['meets a footprint of very many corners', circle(10), circle(40_000)],
    ['crosses the footprint everywhere', comb(300, false), comb(300, true)],
    ['meets a footprint as long as itself', circle(3000), circle(3000)],
  ])('that %s', async (_, area, footprint) => {
    const { rig } = await setup(api({ items: [item('a', { geometry: polygon(footprint) })] }));
    await rig.data('estimate_data_size', { bbox });
    let longest = 0;
    let before = process.cpuUsage();
    const timer = setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
      before = process.cpuUsage();
    }, 5);
    const cost = await costOf(() =>
      rig.data('estimate_data_size', { bbox, aoi_geojson: polygon(area) }),
    );
    clearInterval(timer);
    expect(cost).toBeLessThan(2000);
    // The work yields every few milliseconds.
    expect(longest).toBeLessThan(1000);
  });

  it('in each of many items', async () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      item(`i${index}`, { geometry: polygon(circle(1000)) }),
    );
    const { rig } = await setup(api({ items: many }));
    const data = await (async () => {
      let answer: Readonly<Record<string, unknown>> = {};
      const cost = await costOf(async () => {
        answer = await rig.data('estimate_data_size', {
          limit: 100,
          bbox,
          aoi_geojson: polygon(circle(1000)),
        });
      });
      expect(cost).toBeLessThan(3000);
      return answer;
    })();
    expect(data).toMatchObject({
      item_count: 100,
      warnings: [expect.stringContaining('inside the area is unknown')],
    });
  });

  it('in a static catalogue', async () => {
    const server = await serve(({ path }) =>
      path === '/catalog.json'
        ? { json: { type: 'Catalog', id: 'files', links: [{ rel: 'items', href: './i.json' }] } }
        : {
            json: {
              type: 'FeatureCollection',
              features: [
                item('star', { geometry: polygon(star(3000)) }),
                item('circle', { geometry: polygon(circle(40_000)) }),
              ],
            },
          },
    );
    const rig = await createRig({ catalogs: { files: { url: `${server.origin}/catalog.json` } } });
    await rig.data('search_items');
    const intersects = polygon(circle(3000));
    const cost = await costOf(() => rig.data('search_items', { intersects }));
    expect(cost).toBeLessThan(2000);
  });
});

describe('a string does not block the event loop', () => {
  const landing = (origin: string, more: object) => ({
    json: {
      type: 'Catalog',
      id: 'test',
      conformsTo: [classes.core, classes.search],
      links: [{ rel: 'search', href: `${origin}/search` }],
      ...more,
    },
  });
  const classLike = '/ogcapi-features-3/'.repeat(50_000);
  const slashes = `${'/'.repeat(200_000)}x`;

  it.each<[string, (origin: string) => Reply]>([
    [
      'a class of conformance',
      (origin) => landing(origin, { conformsTo: [classes.search, classLike] }),
    ],
    ['a class that is nearly all slashes', (origin) => landing(origin, { conformsTo: [slashes] })],
    [
      'an address that is nearly all slashes',
      (origin) => landing(origin, { links: [{ rel: 'data', href: `${origin}${slashes}` }] }),
    ],
    [
      'a page of titles',
      () => ({ text: '<title'.repeat(1_000_000), headers: { 'content-type': 'text/html' } }),
    ],
    ['an error of titles', () => ({ status: 400, text: '<html>' + '<title'.repeat(10_000) })],
    [
      'an error about limits',
      () => ({ status: 502, json: { code: 'x', message: 'exceed '.repeat(9000) } }),
    ],
  ])('%s', async (_, answer) => {
    const { rig } = await setup(
      api({ before: ({ path, origin }) => (path === '/' ? answer(origin) : undefined) }),
      { maxRetries: 0 },
    );
    const cost = await costOf(async () => {
      await rig.run('get_catalog_capabilities');
      await rig.run('get_conformance', { conformance_classes: ['https://x.example/1.0/y'] });
      await rig.run('get_collection', { collection_id: 'a' });
    });
    expect(cost).toBeLessThan(1500);
  });

  it('numbers of 299 digits in a page', async () => {
    const digits = '1'.repeat(299);
    const list = Array.from({ length: 60_000 }, () => digits).join(',');
    const text = `{"type":"FeatureCollection","features":[{"id":"a","properties":{"x":[${list}]}}]}`;
    const { rig } = await setup(
      api({ before: ({ path }) => (path === '/search' ? { text } : undefined) }),
      { maxResponseBytes: 33_554_432 },
    );
    expect(await costOf(() => rig.data('search_items'))).toBeLessThan(3000);
  });

  it('more links than the walk limit', async () => {
    const links = Array.from({ length: 150_000 }, (_, index) => ({
      rel: 'child',
      href: `${index}`,
    }));
    const server = await serve(({ path }) => ({
      json: {
        type: 'Catalog',
        id: path,
        links: path === '/first' ? links : [{ rel: 'child', href: '/first' }],
      },
    }));
    const rig = await createRig({ catalogs: { a: { url: server.origin } }, toolTimeoutSecs: 50 });
    let data: Readonly<Record<string, unknown>> = {};
    const cost = await costOf(async () => {
      data = await rig.data('search_items');
    });
    expect(data).toMatchObject({ warnings: [expect.stringContaining('too large')] });
    expect(cost).toBeLessThan(8000);
  });
});
