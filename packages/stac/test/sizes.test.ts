/** What an estimate says of what it does not know. */
import { describe, expect, it } from 'vitest';
import { api, item, page } from './support/api.js';
import { useWorld } from './support/world.js';

const { world } = useWorld();

const of = (assets: object, more: object = {}) => [item('a', { assets, ...more })];
const sized = (size: number) => ({ href: 's3://bucket/x', 'file:size': size });

describe('an estimate', () => {
  it('has no upper bound while the size of an asset is unknown, and says so', async () => {
    const { rig } = await world(
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

  it('says which assets there are none of', async () => {
    const { rig } = await world(api());
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

  it('says how many files it did not ask for', async () => {
    const { rig, server } = await world(({ path, origin, method }) => {
      if (method === 'HEAD') return { headers: { 'content-length': '10' } };
      const assets = Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`x${index}`, { href: `${origin}/f/${index}` }]),
      );
      return api({ items: of(assets) })(
        { path, origin, method, params: new URLSearchParams('limit=10'), headers: {}, body: {} },
        0,
      );
    });
    expect(await rig.data('estimate_data_size')).toMatchObject({
      coverage: { head: { assets: 48 }, unknown: { assets: 12 } },
      warnings: [expect.stringContaining('12 of 60'), expect.stringMatching(/^12 files/)],
    });
    expect(server.seen.filter(({ method }) => method === 'HEAD')).toHaveLength(48);
  });

  it.each([206, 204, 203])('takes no size from a HEAD that is answered with %i', async (status) => {
    const { rig } = await world(({ path, origin, method }) => {
      if (method === 'HEAD') return { status, headers: { 'content-length': '10' } };
      if (path === '/search') return page(of({ a: { href: `${origin}/f` } }));
      return api()(
        { path, origin, method, params: new URLSearchParams(), headers: {}, body: {} },
        0,
      );
    });
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: null,
      coverage: { unknown: { assets: 1 } },
    });
  });

  it('is extrapolated to all that match', async () => {
    const { rig } = await world(
      api({
        before: ({ path }) =>
          path === '/search' ? page([item('a'), item('b')], [], { numberMatched: 50 }) : undefined,
      }),
    );
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: 2000,
      all_matched_bytes: 50_000,
    });
  });
});
