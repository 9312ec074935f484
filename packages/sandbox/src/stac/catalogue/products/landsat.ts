import { between, randomOf } from '../../../random.js';
import { footprintOf, type Footprint } from '../../geo/footprint.js';
import { boxAround, type Point } from '../../geo/geometry.js';
import { epsgOf, rectangleAround, sunElevation, toUtm } from '../../geo/projection.js';
import {
  cloudCover,
  compactDay,
  type Grid,
  isoTime,
  type Overpass,
  overpasses,
  type Scene,
} from '../scene.js';
import { band, image, thumbnail, type AssetTemplate, type Product } from '../product.js';
import { shareOut, sites, type Frame } from '../sites.js';

const PIXEL = 30;
const GROUND: Point = [180_000, 185_000];

/** Landsat uses northern zones everywhere, with negative northings south of the equator. */
function gridOf(zone: number, corners: readonly Point[]): Grid {
  const utm = { zone, south: false };
  const [west, south, east, north] = boxAround(corners.map((corner) => toUtm(corner, utm)));
  const left = Math.floor(west / PIXEL) * PIXEL - PIXEL / 2;
  const top = Math.ceil(north / PIXEL) * PIXEL + PIXEL / 2;
  const cover = (length: number): number => Math.ceil(length / PIXEL) * PIXEL;
  const code = `EPSG:${epsgOf(utm)}`;
  return { code, left, top, width: cover(east - left), height: cover(top - south) };
}

/** The properties that all scenes of one path and row share. */
interface View {
  readonly name: string;
  readonly centre: Point;
  readonly footprint: Footprint;
  readonly grid: Grid;
}

function viewOf({ name, zone, centre, heading }: Frame): View {
  const corners = rectangleAround(centre, heading, GROUND);
  return { name, centre, footprint: footprintOf(corners), grid: gridOf(zone, corners) };
}

function sceneOf(seed: number, view: View, { turn, time }: Overpass): Scene {
  const { name, centre, footprint, grid } = view;
  const random = randomOf(seed, 'landsat', name, turn);
  const satellite = turn % 2 === 1 && time > Date.UTC(2021, 10, 1) ? 9 : 8;
  return {
    collection: 'landsat-c2-l2',
    id: `LC0${satellite}_L2SP_${name}_${compactDay(time)}_02_T1`,
    footprint,
    from: time,
    to: time,
    grid,
    properties: {
      datetime: isoTime(time),
      created: isoTime(time + Math.round(between(random, 24, 400) * 3_600_000)),
      updated: isoTime(time + Math.round(between(random, 500, 900) * 3_600_000)),
      platform: `landsat-${satellite}`,
      instruments: ['oli', 'tirs'],
      gsd: PIXEL,
      'eo:cloud_cover': cloudCover(random),
      'proj:code': grid.code,
      'grid:code': `WRS2-${name}`,
      'view:off_nadir': 0,
      'view:sun_elevation': Math.round(sunElevation(centre, time) * 100) / 100,
      'landsat:wrs_path': name.slice(0, 3),
      'landsat:wrs_row': name.slice(3),
      'landsat:collection_category': 'T1',
    },
  };
}

const surface = (key: string, name: string, commonName = key): AssetTemplate =>
  image({
    key,
    title: `${name} at ${PIXEL} m`,
    file: `${name}.TIF`,
    gsd: PIXEL,
    bands: [band(name, 'uint16', commonName)],
    roles: ['data'],
    declaresSize: 'sometimes',
    // Only the asset server knows the size of the thermal band.
    ...(key === 'lwir11' && { declaresSize: 'never', declaresShape: 'never' }),
  });

export const landsat: Product = {
  id: 'landsat-c2-l2',
  title: 'Landsat 8 and 9 Collection 2 Level-2 (synthetic)',
  description: 'Surface reflectance and temperature like those of Landsat, invented for tests.',
  keywords: ['landsat', 'usgs', 'nasa', 'reflectance', 'temperature', 'optical'],
  license: 'PDDL-1.0',
  providers: [
    { name: 'NASA', roles: ['producer'], url: 'https://landsat.gsfc.nasa.gov/' },
    { name: 'USGS', roles: ['producer', 'licensor'], url: 'https://www.usgs.gov/' },
  ],
  extensions: ['eo', 'projection', 'raster', 'file', 'grid', 'view'],
  ongoing: true,
  defaultCount: 900,
  assets: [
    surface('coastal', 'SR_B1'),
    surface('blue', 'SR_B2'),
    surface('green', 'SR_B3'),
    surface('red', 'SR_B4'),
    surface('nir08', 'SR_B5'),
    surface('swir16', 'SR_B6'),
    surface('swir22', 'SR_B7'),
    surface('lwir11', 'ST_B10'),
    image({
      key: 'qa_pixel',
      title: 'Pixel quality',
      file: 'QA_PIXEL.TIF',
      gsd: PIXEL,
      bands: [band('qa_pixel', 'uint16')],
      roles: ['cloud', 'cloud-shadow', 'snow-ice'],
    }),
    thumbnail('thumb_small.jpeg'),
  ],
  scenes: ({ seed, count }) =>
    shareOut(sites, count).flatMap(([{ frame }, share]) => {
      const view = viewOf(frame);
      const from = Date.UTC(2013, 3, 11);
      const plan = { place: view.centre, from, until: Date.UTC(2026, 0, 1), everyDays: 8 };
      const random = randomOf(seed, 'landsat', view.name);
      return overpasses(random, { ...plan, localHour: 10.2, needsSun: true }, share).map(
        (overpass) => sceneOf(seed, view, overpass),
      );
    }),
};
