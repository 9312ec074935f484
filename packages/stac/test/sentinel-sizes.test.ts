/** Estimates of Sentinel-2 scenes without `file:size`: every range contains the true size. */
import { describe, expect, it } from 'vitest';
import { api, item } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup } = useHarness();

type Scene = 'clear' | 'cloudy' | 'edge';
interface Kind {
  readonly side?: number;
  readonly types?: readonly string[];
  readonly type: string;
  /** File size for each kind of scene; an edge scene has data in 5 % of its pixels. */
  readonly sizes: Readonly<Record<Scene, number>>;
}

const COG = 'image/tiff; application=geotiff; profile=cloud-optimized';
const kind = (
  side: number,
  types: readonly string[],
  [clear, cloudy, edge]: readonly [number, number, number],
  type = COG,
): Kind => ({ side, types, type, sizes: { clear, cloudy, edge } });
const plain = (type: string, [clear, cloudy, edge]: readonly [number, number, number]): Kind => ({
  type,
  sizes: { clear, cloudy, edge },
});
const RGB = ['uint8', 'uint8', 'uint8'];

const kinds: Readonly<Record<string, Kind>> = {
  blue: kind(10_980, ['uint16'], [188e6, 152e6, 9.1e6]),
  red: kind(10_980, ['uint16'], [210e6, 158e6, 10.3e6]),
  nir: kind(10_980, ['uint16'], [229e6, 165e6, 11.2e6]),
  visual: kind(10_980, RGB, [268e6, 171e6, 14e6]),
  rededge1: kind(5490, ['uint16'], [54e6, 43e6, 2.7e6]),
  swir16: kind(5490, ['uint16'], [57e6, 41e6, 2.8e6]),
  coastal: kind(1830, ['uint16'], [4.9e6, 4.2e6, 270e3]),
  aot: kind(5490, ['uint16'], [620e3, 3.4e6, 110e3]),
  wvp: kind(5490, ['uint16'], [31e6, 24e6, 1.6e6]),
  scl: kind(5490, ['uint8'], [2.9e6, 1.9e6, 190e3]),
  cloud: kind(5490, ['uint8'], [3.1e6, 14e6, 200e3]),
  snow: kind(5490, ['uint8'], [41e3, 900e3, 38e3]),
  'blue-jp2': kind(10_980, ['uint16'], [118e6, 96e6, 6e6], 'image/jp2'),
  'visual-jp2': kind(10_980, RGB, [134e6, 101e6, 7.2e6], 'image/jp2'),
  'rededge1-jp2': kind(5490, ['uint16'], [33e6, 27e6, 1.7e6], 'image/jp2'),
  'scl-jp2': kind(5490, ['uint8'], [820e3, 610e3, 70e3], 'image/jp2'),
  preview: kind(343, RGB, [210e3, 190e3, 40e3]),
  thumbnail: plain('image/jpeg', [84e3, 51e3, 11e3]),
  granule_metadata: plain('application/xml', [512e3, 518e3, 236e3]),
  tileinfo_metadata: plain('application/json', [1540, 1538, 1502]),
};

const sceneOf = (index: number): Scene =>
  index % 4 === 3 ? 'edge' : index % 3 === 1 ? 'cloudy' : 'clear';
/** Scenes of one kind differ by up to 20 %. */
const sizeOf = (key: string, index: number): number =>
  Math.round(kinds[key]!.sizes[sceneOf(index)] * (0.8 + 0.4 * ((index * 0.618_034) % 1)));

interface Form {
  readonly heads: boolean;
  /** Earth Search has data types; Planetary Computer omits them. */
  readonly types: boolean;
  readonly nodata: boolean;
}

function sceneItem(index: number, origin: string, { types: withTypes, nodata }: Form) {
  const assets = Object.entries(kinds).map(([key, { side, types = [], type }]) => {
    const isRemote = type === 'image/jp2';
    const href = isRemote ? `s3://bucket/${index}/${key}.jp2` : `${origin}/files/${index}/${key}`;
    const shape = side === undefined ? {} : { 'proj:shape': [side, side] };
    const named =
      types.length > 1 ? { 'eo:bands': types.map((_, name) => ({ name: `${name}` })) } : {};
    const bands = { 'raster:bands': types.map((data_type) => ({ data_type })) };
    return [key, { href, type, ...shape, ...named, ...(withTypes && types.length > 0 && bands) }];
  });
  const empty = sceneOf(index) === 'edge' ? 95 : 0.1;
  return item(`s${index}`, {
    collection: 'sentinel-2-l2a',
    properties: {
      datetime: '2024-06-01T10:00:00Z',
      ...(nodata && { 's2:nodata_pixel_percentage': empty }),
    },
    assets: Object.fromEntries(assets) as object,
  });
}

const scenes = (count: number, form: Form) =>
  setup((request, number) => {
    const { method, path, origin } = request;
    if (method === 'HEAD') {
      const [, , index, key = ''] = path.split('/');
      return form.heads
        ? { headers: { 'content-length': String(sizeOf(key, Number(index))) } }
        : { status: 403 };
    }
    const items = Array.from({ length: count }, (_, index) => sceneItem(index, origin, form));
    return api({ items })(request, number);
  });

interface Row {
  readonly asset: string;
  readonly bytes: number | null;
  readonly low_bytes: number | null;
  readonly high_bytes: number | null;
}

describe('an estimate of Sentinel-2 scenes without file:size', () => {
  const forms: readonly (readonly [string, Form])[] = [
    ['HEAD requests answered', { heads: true, types: true, nodata: true }],
    ['HEAD requests answered, empty pixels unknown', { heads: true, types: true, nodata: false }],
    ['HEAD requests answered, data types unknown', { heads: true, types: false, nodata: true }],
    ['HEAD requests refused', { heads: false, types: true, nodata: true }],
    ['HEAD requests refused, data types unknown', { heads: false, types: false, nodata: false }],
  ];
  const cases = forms.flatMap(([name, form]) =>
    (form.heads ? [1, 12, 40] : [1, 12]).map((count) => [name, count, form] as const),
  );

  it.each(cases)(
    'has a range with the true size for every asset: %s, %i scenes',
    async (_, count, form) => {
      const { rig, server } = await scenes(count, form);
      const data = await rig.data('estimate_data_size', { limit: 40 });
      const indexes = Array.from({ length: count }, (_none, index) => index);
      const truthOf = (key: string) => indexes.reduce((sum, index) => sum + sizeOf(key, index), 0);
      const rows = data['by_asset'] as readonly Row[];
      expect(rows.map(({ asset }) => asset)).toEqual(Object.keys(kinds));
      const outside = rows.filter(({ asset, low_bytes, high_bytes }) => {
        const truth = truthOf(asset);
        // Without any measured file of their group, text files and thumbnails have no bound.
        const isBounded = form.heads || kinds[asset]!.side !== undefined;
        return isBounded
          ? !(low_bytes! <= truth && truth <= high_bytes!)
          : low_bytes !== null || high_bytes !== null;
      });
      expect(outside).toEqual([]);
      expect(server.requests.filter(({ method }) => method === 'HEAD').length).toBeLessThanOrEqual(
        form.heads ? 48 : 48 * 3,
      );
      if (!form.heads) return;
      const truth = Object.keys(kinds).reduce((sum, key) => sum + truthOf(key), 0);
      const {
        low_bytes: low,
        high_bytes: high,
        estimated_size_bytes: bytes,
      } = data as unknown as {
        low_bytes: number;
        high_bytes: number;
        estimated_size_bytes: number;
      };
      expect(low).toBeLessThanOrEqual(truth);
      expect(high).toBeGreaterThanOrEqual(truth);
      // Wide, but informative.
      expect(bytes / truth).toBeGreaterThan(0.5);
      expect(bytes / truth).toBeLessThan(2);
      expect(high / truth).toBeLessThan(4);
    },
  );

  it('prefers sizes of HEAD requests to inferred ones', async () => {
    const form = { heads: true, types: true, nodata: true };
    const { rig } = await scenes(2, form);
    const assets = ['blue', 'aot', 'snow', 'thumbnail'];
    expect(await rig.data('estimate_data_size', { assets })).toMatchObject({
      coverage: { head: { assets: 8 }, proj_shape: { assets: 0 }, inferred: { assets: 0 } },
      estimated_size_bytes: assets.reduce((sum, key) => sum + sizeOf(key, 0) + sizeOf(key, 1), 0),
    });
  });
});
