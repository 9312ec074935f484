/** Unknown and extrapolated sizes. */
import { describe, expect, it } from 'vitest';
import { api, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup } = useHarness();

const of = (assets: object, more: object = {}) => [item('a', { assets, ...more })];
const sized = (size: number) => ({ href: 's3://bucket/x', 'file:size': size });

describe('an estimate', () => {
  it('has no upper bound if the size of an asset is unknown, and reports it', async () => {
    const { rig } = await setup(
      api({
        items: of({ a: sized(1000), b: { href: 's3://bucket/y' }, c: { href: 's3://bucket/z' } }),
      }),
    );
    const args = { force_metadata_only: true, bbox: [10, 45, 11, 46] };
    expect(await rig.data('estimate_data_size', args)).toMatchObject({
      estimated_size_bytes: 1000,
      low_bytes: 1000,
      high_bytes: null,
      aoi: { low_bytes: 1000, high_bytes: null },
      warnings: [expect.stringMatching(/2 of 3 assets/)],
    });
    const known = { ...args, assets: ['a'] };
    expect(await rig.data('estimate_data_size', known)).toMatchObject({
      high_bytes: 1000,
      warnings: [],
    });
  });

  it('reports requested assets that no item has', async () => {
    const { rig } = await setup(api());
    const args = { assets: ['nope', 'red'] };
    expect(await rig.data('estimate_data_size', args)).toMatchObject({
      estimated_size_bytes: 2000,
      warnings: [expect.stringMatching(/no item has an asset nope\./i)],
    });
    expect(await rig.data('estimate_data_size', { assets: ['nope'] })).toMatchObject({
      estimated_size_bytes: null,
      warnings: [expect.stringContaining('nope')],
    });
  });

  it('reports the files beyond the limit of HEAD requests', async () => {
    const { rig, server } = await setup((request) => {
      const { origin, method } = request;
      if (method === 'HEAD') return { headers: { 'content-length': '10' } };
      const assets = Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`x${index}`, { href: `${origin}/f/${index}` }]),
      );
      return api({ items: of(assets) })({ ...request, params: new URLSearchParams('limit=10') }, 0);
    });
    expect(await rig.data('estimate_data_size')).toMatchObject({
      coverage: { head: { assets: 48 }, unknown: { assets: 12 } },
      warnings: [expect.stringContaining('12 of 60'), expect.stringMatching(/^12 files/)],
    });
    expect(server.requests.filter(({ method }) => method === 'HEAD')).toHaveLength(48);
  });

  it.each([206, 204, 203])('ignores a HEAD response with status %i', async (status) => {
    const { rig } = await setup((request) => {
      const { path, origin, method } = request;
      if (method === 'HEAD') return { status, headers: { 'content-length': '10' } };
      if (path === '/search') return page(of({ a: { href: `${origin}/f` } }));
      return api()({ ...request, params: new URLSearchParams() }, 0);
    });
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: null,
      coverage: { unknown: { assets: 1 } },
    });
  });

  it('is in units of 10^6 and 10^9 bytes', async () => {
    const { rig } = await setup(api({ items: of({ a: sized(2_500_000_000) }) }));
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_mb: 2500,
      estimated_size_gb: 2.5,
    });
  });

  it('is extrapolated to all matches, with a range', async () => {
    const items = [
      item('a', { assets: { x: sized(1000) } }),
      item('b', { assets: { x: sized(3000) } }),
    ];
    const { rig } = await setup(
      api({
        before: ({ path }) =>
          path === '/search' ? page(items, [], { numberMatched: 50 }) : undefined,
      }),
    );
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: 4000,
      all_matched_bytes: 100_000,
      all_matched_low_bytes: 4000 + 48 * 1000,
      all_matched_high_bytes: 4000 + 48 * 3000,
    });
  });

  it('of more than 200 scenes reads 200 over several pages, and extrapolates to all', async () => {
    const all = Array.from({ length: 700 }, (_, index) =>
      item(`s${index}`, { assets: { x: sized(1000 + index) } }),
    );
    const { rig, server } = await setup(
      api({
        before: ({ path, params, origin }) => {
          if (path !== '/search') return undefined;
          // The server returns at most 80 per page.
          const from = Number(params.get('from') ?? 0);
          const end = from + Math.min(80, Number(params.get('limit')));
          const href = `${origin}/search?limit=${params.get('limit')}&from=${end}`;
          return page(all.slice(from, end), [{ rel: 'next', href }], { numberMatched: 700 });
        },
      }),
    );
    expect(await rig.data('estimate_data_size', { limit: 1000 })).toMatchObject({
      item_count: 200,
      matched: 700,
      estimated_size_bytes: 200 * 1099.5,
      all_matched_bytes: 700 * 1099.5,
      all_matched_low_bytes: 200 * 1099.5 + 500 * 1000,
      all_matched_high_bytes: 200 * 1099.5 + 500 * 1199,
      warnings: [expect.stringContaining('all 700')],
    });
    expect(server.requests.filter(({ path }) => path === '/search')).toHaveLength(3);
  });

  it('has no upper bound for all matches if the size of an asset is unknown', async () => {
    const items = of({ a: sized(1000), b: { href: 's3://bucket/y' } });
    const { rig } = await setup(api({ items }));
    expect(await rig.data('estimate_data_size')).toMatchObject({
      all_matched_bytes: 1000,
      all_matched_low_bytes: 1000,
      all_matched_high_bytes: null,
    });
  });
});
