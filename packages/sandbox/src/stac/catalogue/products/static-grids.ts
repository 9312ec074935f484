import { boxFootprint, boxRing, footprintOf } from '../../geo/footprint.js';
import { band, image, type Product, thumbnail } from '../product.js';
import { compactDay, isoTime, type Scene } from '../scene.js';
import { sites } from '../sites.js';
import { randomOf, wholeBetween } from '../../../random.js';
import { boxAround, type Point } from '../../geo/geometry.js';
import { toUtm } from '../../geo/projection.js';

const FROM = Date.UTC(2010, 11, 12);
const TO = Date.UTC(2015, 0, 16);

/** A tile of one degree, taken over years: its `datetime` is null. */
function elevationScene([west, south]: Point): Scene {
  const side = (value: number, names: string): string =>
    `${names[value < 0 ? 1 : 0] ?? ''}${String(Math.abs(value)).padStart(names === 'NS' ? 2 : 3, '0')}`;
  return {
    collection: 'cop-dem-glo-30',
    id: `Copernicus_DSM_COG_10_${side(south, 'NS')}_00_${side(west, 'EW')}_00_DEM`,
    footprint: boxFootprint(west, south, west + 1, south + 1),
    from: FROM,
    to: TO,
    grid: { code: 'EPSG:4326', left: west, top: south + 1, width: 1, height: 1 },
    properties: {
      datetime: null,
      start_datetime: isoTime(FROM),
      end_datetime: isoTime(TO),
      platform: 'tandem-x',
      gsd: 30,
      'proj:code': 'EPSG:4326',
    },
  };
}

export const elevation: Product = {
  id: 'cop-dem-glo-30',
  title: 'Copernicus DEM at 30 m (synthetic)',
  description:
    'Heights of the surface like those of the Copernicus elevation model, invented for tests.',
  keywords: ['copernicus', 'dem', 'elevation', 'terrain', 'tandem-x'],
  license: 'other',
  providers: [{ name: 'ESA', roles: ['licensor'], url: 'https://spacedata.copernicus.eu/' }],
  extensions: ['projection', 'raster'],
  ongoing: false,
  defaultCount: 120,
  assets: [
    image({
      key: 'data',
      title: 'Heights',
      file: 'DEM.tif',
      gsd: 30,
      resolution: 1 / 3600,
      bands: [band('height', 'float32')],
      declaresSize: 'never',
      declaresShape: 'always',
    }),
  ],
  scenes: ({ count }) => {
    const around = Math.ceil(count / sites.length);
    const cells = sites.flatMap(({ place: [lon, lat] }) =>
      Array.from({ length: around }, (_, step): Point => [
        ((Math.floor(lon) + step + 180) % 360) - 180,
        Math.floor(lat),
      ]),
    );
    const unique = new Map(cells.map((cell) => [cell.join(), cell]));
    return [...unique.values()].slice(0, count).map(elevationScene);
  },
};

const QUARTER = 0.0625; // a quarter of a quadrangle: 3.75 minutes
const PIXEL = 0.6;
const areas: readonly (readonly [lon: number, lat: number, zone: number])[] = [
  [-93.6, 42.0, 15],
  [-105.0, 39.7, 13],
  [-80.3, 25.8, 17],
  [-122.3, 47.6, 10],
];

function aerialScene(seed: number, number: number): Scene {
  const random = randomOf(seed, 'naip', number);
  const [lon, lat, zone] = areas[number % areas.length] ?? [0, 0, 1];
  const step = Math.floor(number / areas.length);
  const west = lon + (step % 8) * QUARTER;
  const south = lat + Math.floor((step % 40) / 8) * QUARTER;
  const year = 2011 + 2 * wholeBetween(random, 0, 6);
  const time = Date.UTC(year, 6, wholeBetween(random, 1, 31), 17);
  const corners = boxRing(west, south, west + QUARTER, south + QUARTER);
  const plane = boxAround(corners.map((corner) => toUtm(corner, { zone, south: false })));
  const [left = 0, bottom = 0, right = 0, top = 0] = plane.map(Math.round);
  const code = `EPSG:${26_900 + zone}`;
  return {
    collection: 'naip',
    id: `naip_${zone}_${String(number).padStart(4, '0')}_060_${compactDay(time)}`,
    footprint: footprintOf(corners),
    from: time,
    to: time,
    grid: { code, left, top, width: right - left, height: top - bottom },
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
  defaultCount: 160,
  assets: [
    image({
      key: 'image',
      title: 'RGBIR image',
      file: 'image.tif',
      gsd: PIXEL,
      bands: ['red', 'green', 'blue', 'nir'].map((name) => band(name, 'uint8', name)),
      declaresSize: 'never',
      declaresShape: 'always',
    }),
    thumbnail('image.200.jpg'),
  ],
  scenes: ({ seed, count }) =>
    Array.from({ length: count }, (_, number) => aerialScene(seed, number)),
};
