import { randomOf, wholeBetween } from '../../../random/random.js';
import { footprintOf } from '../../geo/footprint.js';
import { boxAround } from '../../geo/parts.js';
import { toUtm, utmAt } from '../../geo/utm.js';
import { band, image, thumbnail, type Product } from '../product.js';
import { compactDay, isoTime, type Scene } from '../scene.js';

const QUARTER = 0.0625; // a quarter of a quadrangle: 3.75 minutes
const PIXEL = 0.6;
const flown: readonly (readonly [number, number])[] = [
  [-93.6, 42.0],
  [-105.0, 39.7],
  [-80.3, 25.8],
  [-122.3, 47.6],
];

function sceneOf(seed: number, number: number): Scene {
  const random = randomOf(seed, 'naip', number);
  const [lon = 0, lat = 0] = flown[number % flown.length] ?? [];
  const step = Math.floor(number / flown.length);
  const west = lon + (step % 8) * QUARTER;
  const south = lat + Math.floor((step % 40) / 8) * QUARTER;
  const year = 2011 + 2 * wholeBetween(random, 0, 6);
  const time = Date.UTC(year, 6, wholeBetween(random, 1, 31), 17);
  const { zone } = utmAt([west, south]);
  const corners: [number, number][] = [
    [west, south],
    [west + QUARTER, south],
    [west + QUARTER, south + QUARTER],
    [west, south + QUARTER],
  ];
  const plane = corners.map((corner) => toUtm(corner, { zone, south: false }));
  const [left, bottom, right, top] = boxAround(plane).map(Math.round);
  const code = `EPSG:${26_900 + zone}`;
  const width = (right ?? 0) - (left ?? 0);
  const height = (top ?? 0) - (bottom ?? 0);
  return {
    collection: 'naip',
    id: `naip_${zone}_${String(number).padStart(4, '0')}_060_${compactDay(time)}`,
    footprint: footprintOf(corners),
    from: time,
    to: time,
    grid: { code, left: left ?? 0, top: top ?? 0, width, height },
    properties: {
      datetime: isoTime(time),
      gsd: PIXEL,
      'proj:code': code,
      'naip:year': String(year),
    },
  };
}

export const aerial: Product = {
  id: 'naip',
  title: 'National Agriculture Imagery Program (synthetic)',
  description:
    'Aerial photographs like those of NAIP, invented for tests. Items never tell a file size.',
  keywords: ['naip', 'aerial', 'usda', 'agriculture', 'photograph'],
  license: 'PDDL-1.0',
  providers: [
    {
      name: 'USDA Farm Service Agency',
      roles: ['producer', 'licensor'],
      url: 'https://www.fsa.usda.gov/',
    },
  ],
  extensions: ['eo', 'projection', 'raster'],
  ongoing: false,
  usualCount: 160,
  assets: [
    image({
      key: 'image',
      title: 'RGBIR image',
      file: 'image.tif',
      gsd: PIXEL,
      bands: ['red', 'green', 'blue', 'nir'].map((name) => band(name, 'uint8', name)),
      tellsSize: 'never',
      tellsShape: 'always',
    }),
    thumbnail('image.200.jpg'),
  ],
  scenes: ({ seed, count }) => Array.from({ length: count }, (_, number) => sceneOf(seed, number)),
};
