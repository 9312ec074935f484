import { fuzzTools } from '@toolkeel/pack-kit/testing';
import { describe, expect, it } from 'vitest';
import { api } from './support/api.js';
import { argumentValues, useHarness } from './support/rig.js';

const { setup } = useHarness();

describe('arguments', () => {
  it('that a schema rejects never reach a catalogue; accepted ones get a valid envelope', async () => {
    const { rig, server: upstream } = await setup(api());
    const options = { rig, upstream, values: argumentValues, without: ['catalog_url'] };
    await expect(fuzzTools({ ...options, runs: 300 })).resolves.toBeUndefined();
  }, 60_000);

  it('may contain a bbox in URL notation', async () => {
    const { rig, server } = await setup(api());
    await rig.data('search_items', { bbox: '9, 44,12.5,47' });
    expect(server.requests.at(-1)!.params.get('bbox')).toBe('9,44,12.5,47');
    for (const bbox of ['here', '0,0,1', '0,0,1,x', '']) {
      expect(await rig.run('search_items', { bbox })).toMatchObject({
        success: false,
        error: { code: 'validation_error', message: expect.not.stringContaining('character') },
      });
    }
  });

  it.each([
    ['search_items', { bbox: [1, 2, 3, 4], intersects: { type: 'Point', coordinates: [0, 0] } }],
    ['search_items', { bbox: [1, 5, 3, 4] }],
    ['search_items', { bbox: [1, 2, 3, 4, 5] }],
    ['search_items', { datetime: 'yesterday' }],
    ['search_items', { query: { a: { near: 1 } } }],
    ['search_items', { intersects: { type: 'Point', coordinates: [999, 0] } }],
    ['search_items', { catalog: 'test', catalog_url: 'https://stac.example/' }],
    ['estimate_data_size', { aoi_geojson: { type: 'Circle' } }],
    ['search_federated', { catalogs: ['1', '2', '3', '4', '5', '6', '7', '8', '9'] }],
  ])('that are inconsistent are invalid_input: %s %j', async (tool, args) => {
    const { rig, server } = await setup(api());
    expect(await rig.code(tool, args)).toBe('invalid_input');
    expect(server.requests).toEqual([]);
  });
});
