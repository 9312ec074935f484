import { band, image, type Product } from '../product.js';
import { isoTime, type Scene } from '../scene.js';
import { boxFootprint, type Footprint } from '../../geo/footprint.js';
import { sites } from '../sites.js';

const numbered =
  (make: (number: number) => Scene): Product['scenes'] =>
  ({ count }) =>
    Array.from({ length: count }, (_, number) => make(number));

const provider = {
  name: 'Toolkeel sandbox',
  roles: ['producer', 'host'],
  url: 'https://example.org/',
} as const;

export const globalProducts: readonly Product[] = [
  {
    id: 'land-cover',
    title: 'Global land cover at 10 m (synthetic)',
    description: 'Eleven classes of land cover, year by year, in large tiles, invented for tests.',
    keywords: ['land cover', 'classification', 'global'],
    license: 'CC-BY-4.0',
    providers: [provider],
    extensions: ['projection', 'raster', 'file'],
    ongoing: false,
    defaultCount: 48,
    assets: [
      image({
        key: 'map',
        title: 'Classes',
        file: 'map.tif',
        gsd: 10,
        resolution: 3 / 36_000,
        bands: [band('class', 'uint8')],
      }),
    ],
    scenes: numbered(landCover),
  },
  {
    id: 'sea-ice-monthly',
    title: 'Polar sea ice concentration (synthetic)',
    description: 'Share of ice on the polar seas, month by month, invented for tests.',
    keywords: ['sea ice', 'polar', 'arctic', 'antarctic', 'climate'],
    license: 'CC0-1.0',
    providers: [provider],
    extensions: ['projection', 'raster', 'file'],
    ongoing: true,
    defaultCount: 72,
    assets: [
      image({
        key: 'concentration',
        title: 'Concentration',
        file: 'concentration.tif',
        gsd: 25_000,
        bands: [band('concentration', 'int16')],
      }),
    ],
    scenes: numbered(seaIce),
  },
  {
    id: 'era5-monthly',
    title: 'Reanalysis of the atmosphere (synthetic)',
    description:
      'Monthly means of the weather as one Zarr store, invented for tests. Has no sizes.',
    keywords: ['climate', 'weather', 'reanalysis', 'zarr', 'temperature'],
    license: 'other',
    providers: [provider],
    extensions: [],
    ongoing: true,
    defaultCount: 36,
    assets: [
      {
        key: 'zarr',
        title: 'Zarr store',
        file: 'store.zarr',
        type: 'application/vnd+zarr',
        roles: ['data'],
        declaresSize: 'never',
        declaresShape: 'never',
      },
    ],
    scenes: numbered(reanalysis),
  },
  {
    id: 'future-mission',
    title: 'A mission that has not flown (synthetic)',
    description: 'A collection without a single item.',
    keywords: ['future', 'hyperspectral'],
    license: 'other',
    providers: [provider],
    extensions: [],
    ongoing: true,
    defaultCount: 0,
    assets: [],
    scenes: () => [],
  },
];

const strip = (south: number, north: number): Footprint => boxFootprint(-180, south, 180, north);

const month = (number: number): [number, number] => [
  Date.UTC(2020, number, 1),
  Date.UTC(2020, number + 1, 1) - 1000,
];

/** A polar footprint is a strip over all longitudes. */
function seaIce(number: number): Scene {
  const south = number % 2 === 1;
  const [from] = month(Math.floor(number / 2));
  const code = south ? 'EPSG:3976' : 'EPSG:3413';
  return {
    collection: 'sea-ice-monthly',
    id: `sea-ice_${south ? 'south' : 'north'}_${isoTime(from).slice(0, 7)}`,
    footprint: south ? strip(-90, -39.36) : strip(31.1, 90),
    from,
    to: from,
    grid: { code, left: -3_850_000, top: 5_850_000, width: 7_600_000, height: 11_200_000 },
    properties: { datetime: isoTime(from), gsd: 25_000, 'proj:code': code },
  };
}

/** A Zarr store is not a single file and has no size. */
function reanalysis(number: number): Scene {
  const [from, to] = month(number);
  return {
    collection: 'era5-monthly',
    id: `era5_${isoTime(from).slice(0, 7)}`,
    footprint: strip(-90, 90),
    from,
    to,
    properties: { datetime: null, start_datetime: isoTime(from), end_datetime: isoTime(to) },
  };
}

function landCover(number: number): Scene {
  const year = 2020 + (number % 2);
  const [lon, lat] = sites[Math.floor(number / 2) % sites.length]?.place ?? [0, 0];
  const west = Math.floor(lon / 3) * 3;
  const south = Math.floor(lat / 3) * 3;
  const [from, to] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1) - 1000];
  return {
    collection: 'land-cover',
    id: `land-cover_${year}_${String(Math.floor(number / 2)).padStart(3, '0')}`,
    footprint: boxFootprint(west, south, west + 3, south + 3),
    from,
    to,
    grid: { code: 'EPSG:4326', left: west, top: south + 3, width: 3, height: 3 },
    properties: {
      datetime: isoTime(from),
      start_datetime: isoTime(from),
      end_datetime: isoTime(to),
      gsd: 10,
      'proj:code': 'EPSG:4326',
    },
  };
}
