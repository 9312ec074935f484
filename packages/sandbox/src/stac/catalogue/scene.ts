import type { JsonObject } from '../../json.js';
import type { Footprint } from '../geo/footprint.js';

/** The raster that a scene's images lie on, in the units of its projection. */
export interface Grid {
  readonly code: string | null;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** What is searched: an item without its links and assets, which are made when somebody asks for them. */
export interface Scene {
  readonly collection: string;
  readonly id: string;
  readonly footprint: Footprint;
  readonly properties: JsonObject;
  /** When it was taken, in milliseconds; the same twice for a moment. */
  readonly from: number;
  readonly to: number;
  readonly grid?: Grid;
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** 20240131 */
export const compactDay = (ms: number): string => isoTime(ms).slice(0, 10).replaceAll('-', '');

/** Rows and columns at a resolution. */
export function shapeOf({ width, height }: Grid, resolution: number): [number, number] {
  return [Math.round(height / resolution), Math.round(width / resolution)];
}

/** From columns and rows to coordinates, in the order of the projection extension. */
export function transformOf({ left, top }: Grid, resolution: number): number[] {
  return [resolution, 0, left, 0, -resolution, top];
}
