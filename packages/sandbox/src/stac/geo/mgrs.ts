import { fromUtm, type Utm } from './projection.js';

const BANDS = 'CDEFGHJKLMNPQRSTUVWX';
const COLUMNS = ['ABCDEFGH', 'JKLMNPQR', 'STUVWXYZ'];
const ROWS = 'ABCDEFGHJKLMNPQRSTUV';
const SQUARE = 100_000;
/** Sentinel-2 cuts its tiles from these squares, 9.8 km larger, on a raster of 60 m. */
const TILE = 109_800;
const RASTER = 60;

export interface Tile {
  readonly name: string;
  readonly utm: Utm;
  readonly left: number;
  readonly top: number;
  readonly size: number;
}

/** The tile whose square holds a position of the projection. */
export function tileAt([x, y]: readonly [number, number], utm: Utm): Tile {
  const [column, row] = [Math.floor(x / SQUARE), Math.floor(y / SQUARE)];
  const left = Math.floor((column * SQUARE) / RASTER) * RASTER;
  const top = Math.ceil(((row + 1) * SQUARE) / RASTER) * RASTER;
  return { name: nameOf(column, row, utm), utm, left, top, size: TILE };
}

function nameOf(column: number, row: number, utm: Utm): string {
  const [, lat] = fromUtm([(column + 0.5) * SQUARE, (row + 0.5) * SQUARE], utm);
  const band = BANDS[Math.min(19, Math.floor((lat + 80) / 8))] ?? '';
  const columns = COLUMNS[(utm.zone - 1) % 3] ?? '';
  const shift = utm.zone % 2 === 0 ? 5 : 0;
  return `${utm.zone}${band}${columns[column - 1] ?? ''}${ROWS[(row + shift) % 20] ?? ''}`;
}
