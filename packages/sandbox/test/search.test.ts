import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStacSandbox, type StacSandbox } from '@toolkeel/sandbox';
import { sendRequest, pages, type Item, type Page } from './support/client.js';
import * as oracle from './support/oracle.js';

let sandbox: StacSandbox;
const items: Item[] = [];

beforeAll(async () => {
  sandbox = await startStacSandbox({ seed: 3, scale: 0.4 });
  const fields = { include: ['properties'], exclude: ['assets', 'links'] };
  const all = { method: 'POST', body: { limit: 10_000, fields } } as const;
  items.push(...(await sendRequest<Page>(`${sandbox.url}/search`, all)).json.features);
});
afterAll(() => sandbox.close());

const slim = {
  exclude: ['type', 'stac_version', 'geometry', 'bbox', 'links', 'assets', 'properties'],
};

/** The ids of a POST search, in order. */
const found = async (body: object): Promise<string[]> => {
  const whole = { limit: 10_000, fields: slim, ...body };
  const { json, status, text } = await sendRequest<Page>(`${sandbox.url}/search`, {
    method: 'POST',
    body: whole,
  });
  if (status !== 200) throw new Error(text);
  return json.features.map(({ id }) => id);
};

/** The ids of a GET search, in order. */
const foundByGet = async (parameters: Record<string, string>): Promise<string[]> => {
  const fields = slim.exclude.map((name) => `-${name}`).join();
  const query = new URLSearchParams({ limit: '10000', fields, ...parameters }).toString();
  const { json, status, text } = await sendRequest<Page>(`${sandbox.url}/search?${query}`);
  if (status !== 200) throw new Error(text);
  return json.features.map(({ id }) => id);
};

const expected = (holds: (item: Item) => boolean | null): string[] =>
  items.filter((item) => holds(item) === true).map(({ id }) => id);

const runs = { numRuns: 25 };

// Mostly around the sites, often across the antimeridian.
const corner = fc.oneof(
  fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -90, max: 90, noNaN: true }),
  ),
  fc.constantFrom(
    [179.9, -17],
    [-179.9, -18],
    [180, 52],
    [-180, 71],
    [2.3, 48.8],
    [-40, 82],
    [0, 0],
  ),
) as fc.Arbitrary<[number, number]>;
const box = fc
  .tuple(
    corner,
    fc.oneof(fc.constantFrom(0, 0.5, 3), fc.double({ min: 0, max: 300, noNaN: true })),
    fc.oneof(fc.constantFrom(0, 0.5), fc.double({ min: 0, max: 60, noNaN: true })),
  )
  .map(([[lon, lat], width, height]): oracle.Box => {
    const east = lon + width;
    return [lon, lat, east > 180 ? east - 360 : east, Math.min(90, lat + height)];
  });

/** Avoids borders, where rounding decides whether a line touches. */
const offBorder = fc
  .tuple(fc.integer({ min: -179_000, max: 179_000 }), fc.integer({ min: -89_000, max: 89_000 }))
  .map(([lon, lat]): [number, number] => [lon / 1000 + 0.000_137, lat / 1000 + 0.000_291]);

const moment = fc
  .date({ min: new Date('2012-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

describe('a search agrees with a scan of all items', () => {
  test('without parameters, newest first', () => {
    expect(items.length).toBeGreaterThan(1400);
    expect(items.map(({ id }) => id)).toEqual(
      items.toSorted(oracle.usualOrder).map(({ id }) => id),
    );
  });

  test('by bbox, also across the antimeridian and without width', async () => {
    await fc.assert(
      fc.asyncProperty(box, async (given) => {
        // Turf does not support polygons without area; see the test of empty boxes below.
        fc.pre(given[0] !== given[2] && given[1] !== given[3]);
        const wanted = expected((item) => oracle.touchesBox(item, given));
        expect(await found({ bbox: given })).toEqual(wanted);
        const [west, south, east, north] = given;
        const high = [west, south, -100, east, north, 9000].join();
        expect(await foundByGet({ bbox: high })).toEqual(wanted);
      }),
      { ...runs, examples: [[[160.6, -55.95, -170, -25.89]], [[-180, -90, 180, 90]]] },
    );
  });

  test('by points, lines and polygons', async () => {
    const geometry = fc.oneof(
      offBorder.map((coordinates) => ({ type: 'Point', coordinates })),
      fc.tuple(offBorder, offBorder).map((coordinates) => ({ type: 'LineString', coordinates })),
      fc
        .tuple(offBorder, offBorder, offBorder)
        .filter(
          ([a, b, c]) =>
            Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) > 1e-3,
        )
        .map(([a, b, c]) => ({ type: 'Polygon', coordinates: [[a, b, c, a]] })),
    );
    await fc.assert(
      fc.asyncProperty(geometry, async (intersects) => {
        const everywhere: oracle.Box[] = [[-180, -90, 180, 90]];
        const wanted = expected((item) => oracle.touchesGeometry(item, intersects, everywhere));
        expect(await found({ intersects })).toEqual(wanted);
        expect(await foundByGet({ intersects: JSON.stringify(intersects) })).toEqual(wanted);
      }),
      { numRuns: 12 },
    );
  });

  test('by a bbox without width or height', async () => {
    await fc.assert(
      fc.asyncProperty(corner, async ([lon, lat]) => {
        const point = { type: 'Point', coordinates: [lon, lat] };
        expect(await found({ bbox: [lon, lat, lon, lat] })).toEqual(
          await found({ intersects: point }),
        );
        const line = {
          type: 'LineString',
          coordinates: [
            [lon, -90],
            [lon, 90],
          ],
        };
        expect(await found({ bbox: [lon, -90, lon, 90] })).toEqual(
          await found({ intersects: line }),
        );
      }),
      { numRuns: 20 },
    );
  });

  test('by datetime, in all its forms', async () => {
    await fc.assert(
      fc.asyncProperty(moment, moment, async (one, other) => {
        const [from, to] = [one, other].toSorted() as [string, string];
        const [start, end] = [Date.parse(from), Date.parse(to)];
        const forms: [string, number, number][] = [
          [`${from}/${to}`, start, end],
          [`${from}/..`, start, Infinity],
          [`../${to}`, -Infinity, end],
          [`${from}/`, start, Infinity],
          [`/${to}`, -Infinity, end],
        ];
        const [datetime, low, high] = forms[start % forms.length] ?? ['', 0, 0];
        const wanted = expected((item) => oracle.takenWithin(item, low, high));
        expect(await found({ datetime })).toEqual(wanted);
        expect(await foundByGet({ datetime })).toEqual(wanted);
      }),
      runs,
    );
    const [item] = items;
    const exact = String(item?.properties['datetime']);
    expect(await found({ datetime: exact })).toContain(item?.id);
    expect(await found({ datetime: exact.replace('Z', '+00:00') })).toContain(item?.id);
  });

  test('by filter, in both languages', async () => {
    const simple: fc.Arbitrary<oracle.Filter> = fc.oneof(
      fc
        .tuple(fc.constantFrom('=', '<>', '<', '<=', '>', '>='), fc.integer({ min: 0, max: 100 }))
        .map(([op, cover]) => oracle.compare('eo:cloud_cover', op, cover)),
      fc
        .tuple(
          fc.constantFrom('=', '<>', '<', '>='),
          fc.constantFrom('sentinel-2a', 'landsat-9', "o'hara"),
        )
        .map(([op, platform]) => oracle.compare('platform', op, platform)),
      fc
        .constantFrom('eo:cloud_cover', 'platform', 'sat:orbit_state', 'proj:code')
        .map(oracle.isNull),
      fc
        .subarray(['naip', 'landsat-c2-l2', 'cop-dem-glo-30', 'none'], { minLength: 1 })
        .map((names) => oracle.isIn('collection', names)),
      fc
        .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 50, max: 100 }))
        .map(([low, high]) => oracle.between('eo:cloud_cover', low, high)),
      fc
        .constantFrom('MGRS-31', 'WRS2-1', 'EPSG', '')
        .map((start) => oracle.startsWith('grid:code', start)),
      moment.map(oracle.after),
      box.filter(([west, , east]) => west !== east).map(oracle.within),
    );
    const { filter } = fc.letrec<{ filter: oracle.Filter }>((tie) => ({
      filter: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        simple,
        tie('filter').map(oracle.not),
        fc
          .tuple(fc.constantFrom('and', 'or'), tie('filter'), tie('filter'))
          .map(([op, one, other]) => oracle.both(op, one, other)),
      ),
    }));
    const degenerate = ({ text }: oracle.Filter): boolean =>
      /BBOX\(([-\d.e]+), ([-\d.e]+), ([-\d.e]+), \2\)/.test(text);
    await fc.assert(
      fc.asyncProperty(filter, async (given) => {
        fc.pre(!degenerate(given));
        const { text, json, holds } = given;
        const wanted = expected(holds);
        expect(await found({ filter: json })).toEqual(wanted);
        expect(await found({ filter: text, 'filter-lang': 'cql2-text' })).toEqual(wanted);
        expect(await foundByGet({ filter: text })).toEqual(wanted);
        const asJson = { filter: JSON.stringify(json), 'filter-lang': 'cql2-json' };
        expect(await foundByGet(asJson)).toEqual(wanted);
      }),
      runs,
    );
  });

  test('by query', async () => {
    const cover = fc.integer({ min: 0, max: 100 });
    await fc.assert(
      fc.asyncProperty(cover, cover, async (one, other) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const query = {
          'eo:cloud_cover': { gte: low, lt: high },
          platform: { startsWith: 'sentinel' },
        };
        const wanted = expected(({ properties }) => {
          const covered = properties['eo:cloud_cover'];
          const from = String(properties['platform']).startsWith('sentinel');
          return typeof covered === 'number' && covered >= low && covered < high && from;
        });
        expect(await found({ query })).toEqual(wanted);
        expect(await foundByGet({ query: JSON.stringify(query) })).toEqual(wanted);
      }),
      { numRuns: 12 },
    );
  });

  test('in the requested order', async () => {
    const order = fc.tuple(
      fc.constantFrom(
        'datetime',
        'eo:cloud_cover',
        'platform',
        'id',
        'gsd',
        'properties.eo:cloud_cover',
      ),
      fc.constantFrom('asc', 'desc'),
    ) as fc.Arbitrary<[string, 'asc' | 'desc']>;
    await fc.assert(
      fc.asyncProperty(order, async ([field, direction]) => {
        const wanted = items
          .toSorted(oracle.orderBy(field.replace('properties.', ''), direction))
          .map(({ id }) => id);
        expect(await found({ sortby: [{ field, direction }] })).toEqual(wanted);
        const sortby = (direction === 'asc' ? '+' : '-') + field;
        expect(await foundByGet({ sortby })).toEqual(wanted);
      }),
      { numRuns: 8 },
    );
  });

  test('by all parameters combined', async () => {
    await fc.assert(
      fc.asyncProperty(box, moment, fc.integer({ min: 0, max: 100 }), async (bbox, from, cover) => {
        fc.pre(bbox[0] !== bbox[2] && bbox[1] !== bbox[3]);
        const wanted = expected(
          (item) =>
            item.collection.startsWith('sentinel-2') &&
            Number(item.properties['eo:cloud_cover']) <= cover &&
            oracle.takenWithin(item, Date.parse(from), Infinity) &&
            oracle.touchesBox(item, bbox),
        );
        const collections = ['sentinel-2-l2a', 'sentinel-2-l1c'];
        const filter = { op: '<=', args: [{ property: 'eo:cloud_cover' }, cover] };
        expect(await found({ bbox, datetime: `${from}/..`, collections, filter })).toEqual(wanted);
      }),
      runs,
    );
  });

  test('by ids and words', async () => {
    const ids = items.slice(10, 14).map(({ id }) => id);
    expect(await found({ ids })).toEqual(ids);
    expect(await foundByGet({ ids: ids.join() })).toEqual(ids);
    expect(await found({ ids: [] })).toEqual([]);
    expect(await found({ q: ['NAIP'] })).toEqual(
      expected(({ collection }) => collection === 'naip'),
    );
  });
});

describe('paging', () => {
  test('visits every item once, in order, with any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 30, max: 700 }),
        fc.constantFrom('GET', 'POST'),
        async (limit, method) => {
          const wanted = expected(({ collection }) => collection.startsWith('sentinel-2'));
          const body = { collections: ['sentinel-2-l2a', 'sentinel-2-l1c'], limit, fields: slim };
          const query = `limit=${limit}&collections=${body.collections.join()}&fields=${slim.exclude.map((name) => `-${name}`).join()}`;
          const first =
            method === 'GET'
              ? pages(`${sandbox.url}/search?${query}`)
              : pages(`${sandbox.url}/search`, { method, body });
          const visited: string[] = [];
          for await (const { features, numberReturned, numberMatched } of first) {
            expect(features.length).toBe(Math.min(limit, wanted.length - visited.length));
            expect([numberReturned, numberMatched]).toEqual([features.length, wanted.length]);
            visited.push(...features.map(({ id }) => id));
          }
          expect(visited).toEqual(wanted);
        },
      ),
      { numRuns: 10 },
    );
  });
});
