import { band, image, type Product } from '../product.js';
import type { Scene } from '../scene.js';
import { landCover, reanalysis, seaIce } from './global-scenes.js';

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
    usualCount: 48,
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
    usualCount: 72,
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
    usualCount: 36,
    assets: [
      {
        key: 'zarr',
        title: 'Zarr store',
        file: 'store.zarr',
        type: 'application/vnd+zarr',
        roles: ['data'],
        tellsSize: 'never',
        tellsShape: 'never',
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
    usualCount: 0,
    assets: [],
    scenes: () => [],
  },
];
