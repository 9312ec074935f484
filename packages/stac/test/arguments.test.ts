import fc from 'fast-check';
import { envelopeSchema } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { api } from './support/api.js';
import { useWorld } from './support/world.js';

const { world } = useWorld();

const RUNS = 300;

/** Values that are near to what a schema wants, and far from it. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    '',
    '[',
    '[1,2,3]',
    '{"type":"Point"}',
    'http://127.0.0.1/',
    'file:///x',
    '2024-06-31',
    '..',
    'a'.repeat(9000),
    -1,
    0,
    1e9,
    1.5,
    [],
    [0, 0, 0],
    [10, 50, 11, 45],
    {},
    { type: 'Polygon', coordinates: [] },
    { include: 5 },
    '__proto__',
  ),
);

describe('arguments', () => {
  it('that a schema refuses never reach a catalogue; those that it accepts get an answer', async () => {
    const { rig, server } = await world(api());
    for (const tool of rig.instance.tools) {
      const names = [
        ...Object.keys(tool.input.shape).filter((name) => name !== 'catalog_url'),
        'unknown',
      ];
      const args = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 });
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(args, async (given) => {
          const isRefused = !tool.input.safeParse(given).success;
          if (!isRefused && refused > RUNS / 2 && Math.random() < 0.7) return;
          const before = server.seen.length;
          const envelope = await rig.run(tool.name, given);
          expect(envelopeSchema.safeParse(envelope).success).toBe(true);
          if (!isRefused) return;
          refused++;
          expect(envelope).toMatchObject({ success: false, error: { code: 'validation_error' } });
          expect(server.seen.length).toBe(before);
        }),
        { numRuns: RUNS },
      );
      expect(refused).toBeGreaterThan(RUNS / 4);
    }
  }, 60_000);

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
  ])('that make no sense are invalid_input: %s %j', async (tool, args) => {
    const { rig, server } = await world(api());
    expect(await rig.code(tool, args)).toBe('invalid_input');
    expect(server.seen).toEqual([]);
  });
});
