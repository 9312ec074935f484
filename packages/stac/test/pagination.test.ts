/** Lists with loops, wrong ends and wrong orders. */
import { describe, expect, it } from 'vitest';
import { api, classes, collection, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';
import type { PackRig, Handler } from '@toolkeel/pack-kit/testing';

const { setup, serve, createRig } = useHarness();

type Listed = { items?: { id: string }[]; collections?: { id: string }[]; warnings: string[] };

/** Reads a list to its end, at most 60 pages. */
async function followed(rig: PackRig, tool: string, args: object) {
  const ids: string[] = [];
  const warnings: string[] = [];
  let token: string | null | undefined;
  for (let pages = 1; pages <= 60; pages++) {
    const answer = await rig.run(tool, { ...args, ...(token && { page_token: token }) });
    if (!answer.success) throw new Error(answer.error.message);
    const { items, collections, warnings: said } = answer.data as unknown as Listed;
    ids.push(...(items ?? collections ?? []).map(({ id }) => id));
    warnings.push(...said);
    token = answer.meta.pagination?.next_token;
    if (!token) return { ids, warnings, pages };
  }
  return { ids, warnings, pages: Infinity };
}

/** Pages with one entry each, in a loop with a new URL for each page. */
const circle = (path: string, period: number): Handler =>
  api({
    conformsTo: Object.values(classes),
    before: ({ path: asked, params, origin }) => {
      if (asked !== path) return undefined;
      const at = Number(params.get('at') ?? 0);
      const links = [{ rel: 'next', href: `${origin}${path}?at=${at + 1}` }];
      const id = `i${at % period}`;
      return path === '/search'
        ? page([item(id)], links)
        : { json: { collections: [collection(id)], links } };
    },
  });

describe('a list that loops under new URLs ends', () => {
  it.each([1, 2, 3, 5, 13])('with a loop of %i pages of items', async (period) => {
    const { rig } = await setup(circle('/search', period));
    const { ids, warnings, pages } = await followed(rig, 'search_items', { limit: 1 });
    expect(new Set(ids).size).toBe(period);
    expect(pages).toBeLessThanOrEqual(4 * period + 2);
    expect(warnings).toEqual([expect.stringContaining('returned a page again')]);
  });

  it.each([1, 3])('with a loop of %i pages of collections', async (period) => {
    const { rig } = await setup(circle('/collections', period));
    const { ids, warnings } = await followed(rig, 'search_collections', { limit: 1 });
    expect(ids).toEqual(Array.from({ length: period }, (_, index) => `i${index}`));
    expect(warnings).toEqual([expect.stringContaining('returned a page again')]);
  });

  it('and a local search of it is not reported as complete', async () => {
    const handler = circle('/collections', 3);
    const { rig } = await setup((request, count) => {
      const reply = handler(request, count);
      return request.path === '/'
        ? { json: { ...(reply.json as object), conformsTo: [classes.core, classes.search] } }
        : reply;
    });
    expect(await rig.data('search_collections', { q: 'none of them' })).toMatchObject({
      collections: [],
      matched: null,
      searched: 'local',
      warnings: [
        expect.stringContaining('returned a page again'),
        expect.stringContaining('Found no'),
      ],
    });
  });

  it('and a summary of it is not reported as complete', async () => {
    const { rig } = await setup(circle('/search', 1));
    expect(await rig.data('summarize_search')).toMatchObject({ sampled: 1, complete: false });
  });
});

describe('a sample', () => {
  const counted = (matched: number | undefined) =>
    setup(
      api({
        before: ({ path }) =>
          path === '/search'
            ? page(
                [item('a'), item('b')],
                [],
                matched === undefined ? {} : { numberMatched: matched },
              )
            : undefined,
      }),
    );

  it('is complete if it has the reported number of matches', async () => {
    for (const [matched, complete] of [
      [2, true],
      [undefined, true],
      [5, false],
    ] as const) {
      const { rig } = await counted(matched);
      expect(await rig.data('summarize_search')).toMatchObject({ sampled: 2, complete });
      expect(await rig.data('get_aggregations')).toMatchObject({ sampled: 2, complete });
    }
  });

  it('of a static catalogue is incomplete if a file cannot be read', async () => {
    const server = await serve(({ path }) => {
      const links = ['a', 'b'].map((id) => ({ rel: 'item', href: `/${id}` }));
      if (path === '/') return { json: { type: 'Catalog', id: 'files', links } };
      return path === '/a' ? { json: item('a') } : { status: 404, json: {} };
    });
    const rig = await createRig({ catalogs: { files: { url: server.origin } } });
    expect(await rig.data('summarize_search')).toMatchObject({ sampled: 1, complete: false });
  });

  it('reports the end of the last interval', async () => {
    const properties = {
      datetime: null,
      start_datetime: '2010-12-12T00:00:00Z',
      end_datetime: '2015-01-16T00:00:00Z',
    };
    const { rig } = await setup(api({ items: [item('a', { properties })] }));
    expect(await rig.data('summarize_search')).toMatchObject({
      first_datetime: '2010-12-12T00:00:00.000Z',
      last_datetime: '2015-01-16T00:00:00.000Z',
    });
    const { aggregations } = await rig.data('get_aggregations', { aggregations: ['datetime_max'] });
    expect(aggregations).toMatchObject([{ value: '2015-01-16T00:00:00.000Z' }]);
  });

  it.each(['summarize_search', 'get_aggregations', 'search_collections'])(
    'by %s warns that "latest" has no effect',
    async (tool) => {
      const { rig } = await setup(api());
      const latest = { warnings: expect.arrayContaining([expect.stringContaining('"latest"')]) };
      expect(await rig.data(tool, { datetime: 'latest' })).toMatchObject(latest);
      expect(await rig.data(tool)).not.toMatchObject(latest);
    },
  );

  it('that the server counts warns as well', async () => {
    const { rig } = await setup(
      api({
        conformsTo: Object.values(classes),
        before: ({ path }) =>
          path === '/aggregate'
            ? { json: { aggregations: [{ name: 'total_count', value: 3 }] } }
            : undefined,
      }),
    );
    const args = { datetime: 'latest', aggregations: ['total_count'] };
    expect(await rig.data('get_aggregations', args)).toMatchObject({
      method: 'server',
      warnings: [expect.stringContaining('"latest"')],
    });
  });
});

describe('too many buckets', () => {
  it('are summed as overflow', async () => {
    const buckets = Array.from({ length: 210 }, (_, index) => ({ key: `${index}`, frequency: 2 }));
    const aggregations = [{ name: 'x_frequency', buckets, overflow: 7 }];
    const { rig } = await setup(
      api({
        conformsTo: Object.values(classes),
        before: ({ path }) => (path === '/aggregate' ? { json: { aggregations } } : undefined),
      }),
    );
    const data = await rig.data('get_aggregations', { aggregations: ['x_frequency'] });
    const [read] = data['aggregations'] as { buckets: unknown[]; overflow: number }[];
    expect(read!.buckets).toHaveLength(200);
    expect(read!.overflow).toBe(27);
  });
});

describe('a federated search', () => {
  const scene = (id: string, day: string, cover: number) =>
    item(id, { properties: { datetime: `2024-01-${day}T00:00:00Z`, 'eo:cloud_cover': cover } });
  const two = async (first: ReturnType<typeof scene>[], second: ReturnType<typeof scene>[]) => {
    const conformsTo = Object.values(classes);
    const one = await serve(api({ conformsTo, items: first }));
    const other = await serve(api({ conformsTo, items: second }));
    return createRig({ catalogs: { one: { url: one.origin }, other: { url: other.origin } } });
  };
  const idsOf = (data: Readonly<Record<string, unknown>>) =>
    (data['items'] as { id: string }[]).map(({ id }) => id).join(' ');
  const warningsOf = (data: Readonly<Record<string, unknown>>) =>
    (data['catalogs'] as { warnings: string[] }[]).map(({ warnings }) => warnings.join(' '));

  it('merges newest first', async () => {
    const rig = await two(
      [scene('a', '09', 1), scene('b', '05', 2)],
      [scene('c', '07', 3), scene('d', '03', 4)],
    );
    const data = await rig.data('search_federated');
    expect(idsOf(data)).toBe('a c b d');
    expect(warningsOf(data)).toEqual(['', '']);
  });

  it('merges by sortby', async () => {
    const rig = await two(
      [scene('a', '01', 10), scene('b', '09', 30)],
      [scene('c', '05', 20), scene('d', '02', 40)],
    );
    const data = await rig.data('search_federated', { sortby: '+properties.eo:cloud_cover' });
    expect(idsOf(data)).toBe('a c b d');
    expect(warningsOf(data)).toEqual(['', '']);
  });

  it('warns about catalogues with another order', async () => {
    const rig = await two([scene('a', '01', 10), scene('b', '09', 5)], [scene('c', '05', 20)]);
    for (const args of [{}, { sortby: '-properties.datetime' }]) {
      const data = await rig.data('search_federated', args);
      expect(warningsOf(data)).toEqual([expect.stringContaining('in another order'), '']);
    }
  });
});

describe('a walk', () => {
  it('stops at eight levels', async () => {
    const server = await serve(({ path, origin }) => {
      const level = Number(path.slice(1) || 0);
      if (path.startsWith('/item')) return { json: item(path.slice(1)) };
      const links = [
        { rel: 'child', href: `${origin}/${level + 1}` },
        { rel: 'item', href: `${origin}/item${level}` },
      ];
      return { json: { type: 'Catalog', id: `level${level}`, links } };
    });
    const rig = await createRig({ catalogs: { files: { url: server.origin } } });
    await rig.data('search_items', { limit: 100 });
    const levels = server.requests.filter(({ path }) => /^\/\d+$/.test(path));
    expect(levels.map(({ path }) => path).at(-1)).toBe('/8');
  });
});
