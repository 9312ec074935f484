import { between, randomOf } from '../../../random.js';
import { footprintOf } from '../../geo/footprint.js';
import type { Point } from '../../geo/geometry.js';
import { rectangleAround, travel } from '../../geo/projection.js';
import { isoTime, overpasses, type Scene } from '../scene.js';
import { band, image, thumbnail, type Product } from '../product.js';
import { shareOut, sites } from '../sites.js';

/** Radar images have no cloud cover, are taken day and night, and are not projected. */
function sceneOf(seed: number, place: Point, turn: number, time: number): Scene {
  const random = randomOf(seed, 'sentinel-1', place[0], place[1], turn);
  const ascending = turn % 2 === 0;
  const centre = travel(place, between(random, 0, 360), between(random, 0, 60_000));
  const corners = rectangleAround(centre, ascending ? 347 : 193, [170_000, 250_000]);
  const stamp = isoTime(time).slice(0, 19).replaceAll(/[-:]/g, '');
  const start = time - 12_500;
  const end = time + 12_500;
  return {
    collection: 'sentinel-1-grd',
    id: `S1A_IW_GRDH_1SDV_${stamp}_${String(turn).padStart(6, '0')}`,
    footprint: footprintOf(corners),
    from: start,
    to: end,
    grid: { code: null, left: 0, top: 0, width: 25_000, height: 17_000 },
    properties: {
      datetime: isoTime(time),
      start_datetime: isoTime(start),
      end_datetime: isoTime(end),
      created: isoTime(time + 7_200_000),
      updated: isoTime(time + 7_200_000),
      platform: 'sentinel-1a',
      constellation: 'sentinel-1',
      instruments: ['c-sar'],
      gsd: 10,
      'proj:code': null,
      'sat:orbit_state': ascending ? 'ascending' : 'descending',
      'sat:relative_orbit': (turn % 175) + 1,
      'sar:instrument_mode': 'IW',
      'sar:frequency_band': 'C',
      'sar:polarizations': ['VV', 'VH'],
      'sar:product_type': 'GRD',
    },
  };
}

const backscatter = (polarization: string) =>
  image({
    key: polarization,
    title: `${polarization.toUpperCase()} amplitude`,
    file: `iw-${polarization}.tiff`,
    gsd: 10,
    resolution: 1,
    bands: [band(polarization, 'uint16')],
    declaresSize: 'sometimes',
  });

export const sentinel1: Product = {
  id: 'sentinel-1-grd',
  title: 'Sentinel-1 Ground Range Detected (synthetic)',
  description: 'Radar amplitudes like those of Sentinel-1, invented for tests.',
  keywords: ['sentinel', 'copernicus', 'esa', 'radar', 'sar', 'c-band'],
  license: 'other',
  providers: [{ name: 'ESA', roles: ['producer'], url: 'https://earth.esa.int/' }],
  extensions: ['projection', 'raster', 'file', 'sat', 'sar'],
  ongoing: true,
  defaultCount: 240,
  assets: [backscatter('vv'), backscatter('vh'), thumbnail('quick-look.jpg')],
  scenes: ({ seed, count }) =>
    shareOut(sites, count).flatMap(([{ place }, share]) => {
      const from = Date.UTC(2014, 9, 10);
      const plan = { place, from, until: Date.UTC(2026, 0, 1), everyDays: 12, localHour: 18 };
      const random = randomOf(seed, 'sentinel-1', place[0], place[1]);
      return overpasses(random, { ...plan, needsSun: false }, share).map(({ turn, time }) =>
        sceneOf(seed, place, turn, time),
      );
    }),
};
