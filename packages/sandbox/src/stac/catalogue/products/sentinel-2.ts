import { band, image, thumbnail, type AssetTemplate, type Product } from '../product.js';
import { between, randomOf, type Random } from '../../../random.js';
import {
  areaOf,
  boxRing,
  clip,
  densify,
  type Footprint,
  footprintOf,
} from '../../geo/footprint.js';
import type { Point } from '../../geo/geometry.js';
import { epsgOf, fromUtm, sunElevation } from '../../geo/projection.js';
import {
  cloudCover,
  compactDay,
  isoTime,
  type Overpass,
  overpasses,
  type Scene,
} from '../scene.js';
import { shareOut, sites, type Tile } from '../sites.js';

const reflectance = (key: string, name: string, gsd: number): AssetTemplate =>
  image({
    key,
    title: `${name} at ${gsd} m`,
    file: `${name}.tif`,
    gsd,
    bands: [band(name, 'uint16', key)],
    roles: ['data', 'reflectance'],
    // Clients must estimate the size of the coastal band from its shape.
    declaresSize: key === 'coastal' ? 'never' : 'always',
  });

const reflectances: readonly AssetTemplate[] = [
  reflectance('blue', 'B02', 10),
  reflectance('green', 'B03', 10),
  reflectance('red', 'B04', 10),
  reflectance('nir', 'B08', 10),
  reflectance('rededge071', 'B05', 20),
  reflectance('swir16', 'B11', 20),
  reflectance('swir22', 'B12', 20),
  reflectance('coastal', 'B01', 60),
];

const rgb = ['red', 'green', 'blue'].map((name) => band(name, 'uint8', name));
const metadata: AssetTemplate = {
  key: 'granule_metadata',
  title: 'Granule metadata',
  file: 'metadata.xml',
  type: 'application/xml',
  roles: ['metadata'],
  bytes: [40_000, 120_000],
  declaresSize: 'always',
  declaresShape: 'never',
};

const common = {
  license: 'other',
  providers: [
    { name: 'ESA', roles: ['producer'], url: 'https://earth.esa.int/' },
    { name: 'Toolkeel sandbox', roles: ['host'], url: 'https://example.org/' },
  ],
  extensions: ['eo', 'projection', 'raster', 'file', 'grid', 'view'],
  ongoing: true,
} as const;

export const sentinel2L2a: Product = {
  ...common,
  id: 'sentinel-2-l2a',
  title: 'Sentinel-2 Level-2A (synthetic)',
  description:
    'Surface reflectance like that of Sentinel-2, invented for tests: no pixel of it is real.',
  keywords: ['sentinel', 'copernicus', 'esa', 'reflectance', 'optical', 'msi'],
  defaultCount: 1800,
  assets: [
    ...reflectances,
    image({
      key: 'scl',
      title: 'Scene classification',
      file: 'SCL.tif',
      gsd: 20,
      bands: [band('scl', 'uint8')],
      declaresSize: 'sometimes',
    }),
    image({
      key: 'visual',
      title: 'True colour',
      file: 'TCI.tif',
      gsd: 10,
      bands: rgb,
      roles: ['visual'],
      declaresSize: 'sometimes',
      declaresShape: 'sometimes',
    }),
    thumbnail('preview.jpg'),
    metadata,
  ],
  scenes: ({ seed, count }) => sentinel2Scenes('l2a', Date.UTC(2017, 3, 1), seed, count),
};

export const sentinel2L1c: Product = {
  ...common,
  id: 'sentinel-2-l1c',
  title: 'Sentinel-2 Level-1C (synthetic)',
  description: 'Top of atmosphere reflectance like that of Sentinel-2, invented for tests.',
  keywords: ['sentinel', 'copernicus', 'esa', 'reflectance', 'optical', 'top of atmosphere'],
  defaultCount: 300,
  assets: [...reflectances.slice(0, 4), thumbnail('preview.jpg'), metadata],
  scenes: ({ seed, count }) => sentinel2Scenes('l1c', Date.UTC(2016, 0, 1), seed, count),
};

/** The whole tile, or the part of it on one side of a swath's edge. */
function imagedPart(random: Random, { left, top, size }: Tile): Point[] {
  const square = boxRing(left, top - size, left + size, top);
  if (random() < 0.5) return square;
  const tilt = between(random, 0.15, 0.28); // the satellite flies south-south-west
  const middle = left + between(random, 0.25, 0.85) * size;
  const eastern = random() < 0.5 ? 1 : -1;
  return clip(square, {
    a: eastern,
    b: -eastern * tilt,
    c: eastern * (middle - tilt * (top - size / 2)),
  });
}

/** The properties that all scenes of a tile and an orbit share. */
interface View {
  readonly tile: Tile;
  readonly centre: Point;
  readonly footprint: Footprint;
  /** The share of the tile that is imaged. */
  readonly covered: number;
}

function viewOf(seed: number, tile: Tile, orbit: number): View {
  const part = imagedPart(randomOf(seed, 'swath', tile.name, orbit), tile);
  const centre = centreOf(tile);
  const steps = Math.abs(centre[1]) > 65 ? 8 : 1;
  const ring = densify(part, steps).map((position) => fromUtm(position, tile));
  return { tile, centre, footprint: footprintOf(ring), covered: areaOf(part) / tile.size ** 2 };
}

function centreOf(tile: Tile): Point {
  const { left, top, size } = tile;
  return fromUtm([left + size / 2, top - size / 2], tile);
}

function sceneOf(level: string, seed: number, view: View, { turn, time }: Overpass): Scene {
  const { tile, centre, footprint, covered } = view;
  const { left, top, size } = tile;
  const random = randomOf(seed, level, tile.name, turn);
  const platform = turn % 2 === 0 ? (time < Date.UTC(2025, 0, 20) ? 'a' : 'c') : 'b';
  const code = `EPSG:${epsgOf(tile)}`;
  return {
    collection: `sentinel-2-${level}`,
    id: `S2${platform.toUpperCase()}_${tile.name}_${compactDay(time)}_0_${level.toUpperCase()}`,
    footprint,
    from: time,
    to: time,
    grid: { code, left, top, width: size, height: size },
    properties: {
      datetime: isoTime(time),
      created: isoTime(time + Math.round(between(random, 4, 30) * 3_600_000)),
      updated: isoTime(time + Math.round(between(random, 40, 90) * 3_600_000)),
      platform: `sentinel-2${platform}`,
      constellation: 'sentinel-2',
      instruments: ['msi'],
      gsd: 10,
      'eo:cloud_cover': cloudCover(random),
      'proj:code': code,
      'grid:code': `MGRS-${tile.name}`,
      'view:sun_elevation': Math.round(sunElevation(centre, time) * 100) / 100,
      's2:nodata_pixel_percentage': Math.round((1 - covered) * 10_000) / 100,
      's2:processing_baseline': time < Date.UTC(2022, 0, 25) ? '02.11' : '05.10',
    },
  };
}

function sentinel2Scenes(level: string, from: number, seed: number, count: number): Scene[] {
  const tiles = sites.flatMap((site) => site.tiles);
  return shareOut(tiles, count).flatMap(([tile, share]) => {
    const views = [viewOf(seed, tile, 0), viewOf(seed, tile, 1)] as const;
    const plan = { place: centreOf(tile), from, until: Date.UTC(2026, 0, 1), everyDays: 5 };
    const random = randomOf(seed, level, tile.name);
    return overpasses(random, { ...plan, localHour: 10.5, needsSun: true }, share).map((overpass) =>
      sceneOf(level, seed, views[overpass.turn % 2 === 0 ? 0 : 1], overpass),
    );
  });
}
