import { footprintOf, type Footprint } from '../../geo/footprint.js';
import { isoTime, type Scene } from '../scene.js';
import { sites } from '../sites.js';

const strip = (south: number, north: number): Footprint =>
  footprintOf([
    [-180, south],
    [180, south],
    [180, north],
    [-180, north],
  ]);

const month = (number: number): [number, number] => [
  Date.UTC(2020, number, 1),
  Date.UTC(2020, number + 1, 1) - 1000,
];

/** Around a pole there is no west or east: the footprint is a strip over all longitudes. */
export function seaIce(number: number): Scene {
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

/** Chunked in a Zarr store: no single file, so no size that anybody could ask for. */
export function reanalysis(number: number): Scene {
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

export function landCover(number: number): Scene {
  const year = 2020 + (number % 2);
  const [lon = 0, lat = 0] = sites[Math.floor(number / 2) % sites.length] ?? [];
  const west = Math.floor(lon / 3) * 3;
  const south = Math.floor(lat / 3) * 3;
  const [from, to] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1) - 1000];
  return {
    collection: 'land-cover',
    id: `land-cover_${year}_${String(Math.floor(number / 2)).padStart(3, '0')}`,
    footprint: footprintOf([
      [west, south],
      [west + 3, south],
      [west + 3, south + 3],
      [west, south + 3],
    ]),
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
