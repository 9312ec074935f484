import {
  countOf,
  numberOf,
  numbersOf,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
} from '@toolkeel/pack-kit';

/** The members in which catalogues store the file size; the standard one first. */
const SIZE_MEMBERS = ['file:size', 'file:bytes', 'content_length', 'byte_size', 'bytes', 'size'];

/** The file size in the metadata of an asset. 0 is not a size. */
export function metadataSize(asset: JsonObject): number | undefined {
  return SIZE_MEMBERS.map((name) => countOf(asset[name])).find(
    (size) => size !== undefined && size > 0,
  );
}

/** The uncompressed size of the pixels with data. */
interface RawSize {
  readonly bytes: number;
  /** The data type of each band. */
  readonly types: readonly string[];
}

/** The shape of an asset times the data types of its bands, from the metadata or the sensor registry. */
export function uncompressedSize(
  asset: JsonObject,
  item: JsonObject,
  key = '',
): RawSize | undefined {
  const properties = objectOf(item['properties']) ?? {};
  const own = numbersOf(asset['proj:shape']);
  const stated = bandTypes(asset, stringOf(asset['data_type']));
  // The shape of the item is its main grid, which does not apply to thumbnails or text files.
  const shape = own ?? (stated.length > 0 ? numbersOf(properties['proj:shape']) : undefined);
  const types =
    stated.length === 0 && own && isImage(asset)
      ? bandTypes(asset, defaultDataType(stringOf(item['collection']) ?? '', key))
      : stated;
  if (!shape || shape.length !== 2) return undefined;
  const [height = 0, width = 0] = shape.map(countOf);
  const known = types.flatMap((type) => (type !== undefined && SAMPLE_BYTES.has(type) ? type : []));
  if (known.length === 0 || known.length !== types.length) return undefined;
  const perPixel = known.reduce((sum, type) => sum + SAMPLE_BYTES.get(type)!, 0);
  const all = countOf(height * width * perPixel);
  if (all === undefined || all === 0) return undefined;
  return { bytes: Math.ceil(all * dataShare(properties)), types: known };
}

/** Below this share, file overhead outweighs the pixels. */
const MIN_DATA_SHARE = 0.01;

/** The share of pixels with data: at the edge of a swath most of a tile is empty. */
function dataShare(properties: JsonObject): number {
  const empty = numberOf(properties['s2:nodata_pixel_percentage']);
  const filled = numberOf(properties['sentinel:data_coverage']);
  const percent = empty === undefined ? (filled ?? 100) : 100 - empty;
  return percent >= 0 && percent <= 100 ? Math.max(MIN_DATA_SHARE, percent / 100) : 1;
}

/** The data type of each band; `common` for bands without a type, or if no bands are listed. */
function bandTypes(asset: JsonObject, common: string | undefined): readonly (string | undefined)[] {
  const bands = [asset['raster:bands'], asset['bands'], asset['eo:bands']]
    .map(objectsOf)
    .filter((list) => list.length > 0);
  const typed = bands.find((list) => list.some((band) => band['data_type'] !== undefined));
  if (typed) return typed.map((band) => stringOf(band['data_type']) ?? common);
  if (common === undefined) return [];
  return (bands[0] ?? [{}]).map(() => common);
}

function isImage(asset: JsonObject): boolean {
  return stringOf(asset['type'])?.startsWith('image/') ?? true;
}

/** Bytes per sample, by the data type names of the raster extension and STAC 1.1. */
const SAMPLE_BYTES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    int8: 1,
    uint8: 1,
    int16: 2,
    uint16: 2,
    float16: 2,
    int32: 4,
    uint32: 4,
    float32: 4,
    cint16: 4,
    int64: 8,
    uint64: 8,
    float64: 8,
    cint32: 8,
    cfloat32: 8,
    cfloat64: 16,
  }),
);

/** The data types of a well-known collection's rasters, for items whose metadata omits them. */
interface Sensor {
  readonly collection: string;
  readonly data_type: string;
  /** Assets with another data type, by key in lower case. */
  readonly assets?: Readonly<Record<string, string>>;
}

const SENTINEL_2 = {
  data_type: 'uint16',
  assets: { scl: 'uint8', visual: 'uint8', cloud: 'uint8', snow: 'uint8', preview: 'uint8' },
};
const LANDSAT = {
  data_type: 'uint16',
  assets: {
    qa_aerosol: 'uint8',
    cloud_qa: 'uint8',
    drad: 'int16',
    trad: 'int16',
    urad: 'int16',
    atran: 'int16',
    emis: 'int16',
    emsd: 'int16',
    cdist: 'int16',
    qa: 'int16',
  },
};
const HLS = { data_type: 'int16', assets: { fmask: 'uint8' } };

/** By the ids that Earth Search, Planetary Computer and the Copernicus Data Space use. */
export const sensors: readonly Sensor[] = [
  { collection: 'sentinel-2-l2a', ...SENTINEL_2 },
  { collection: 'sentinel-2-c1-l2a', ...SENTINEL_2 },
  { collection: 'sentinel-2-pre-c1-l2a', ...SENTINEL_2 },
  { collection: 'sentinel-2-l1c', ...SENTINEL_2 },
  { collection: 'landsat-c2-l2', ...LANDSAT },
  { collection: 'landsat-8-c2-l2', ...LANDSAT },
  { collection: 'landsat-c2-l1', data_type: 'uint8' },
  { collection: 'hls2-l30', ...HLS },
  { collection: 'hls2-s30', ...HLS },
  { collection: 'sentinel-1-grd', data_type: 'uint16' },
  { collection: 'sentinel-1-rtc', data_type: 'float32' },
  { collection: 'naip', data_type: 'uint8' },
  { collection: 'cop-dem-glo-30', data_type: 'float32' },
  { collection: 'cop-dem-glo-90', data_type: 'float32' },
  { collection: '3dep-seamless', data_type: 'float32' },
  { collection: 'nasadem', data_type: 'int16' },
  { collection: 'alos-dem', data_type: 'int16' },
  { collection: 'modis-09a1-061', data_type: 'int16' },
  { collection: 'modis-13q1-061', data_type: 'int16' },
  { collection: 'esa-worldcover', data_type: 'uint8' },
  { collection: 'io-lulc-annual-v02', data_type: 'uint8' },
  { collection: 'jrc-gsw', data_type: 'uint8' },
];

const byCollection = new Map(sensors.map((sensor) => [sensor.collection, sensor]));

/** The data type in the sensor registry; undefined for an unlisted collection. */
function defaultDataType(collection: string, key: string): string | undefined {
  const sensor = byCollection.get(collection.toLowerCase());
  const own = sensor?.assets && new Map(Object.entries(sensor.assets)).get(key.toLowerCase());
  return own ?? sensor?.data_type;
}
