/** Bytes of one sample, by the names of the raster extension and of STAC 1.1. */
export const SAMPLE_BYTES: ReadonlyMap<string, number> = new Map(
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
export interface Sensor {
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

/** The usual data type of an asset of a collection; undefined for a collection that is not listed. */
export function usualDataType(collection: string, key: string): string | undefined {
  const sensor = byCollection.get(collection.toLowerCase());
  const own = sensor?.assets && new Map(Object.entries(sensor.assets)).get(key.toLowerCase());
  return own ?? sensor?.data_type;
}
