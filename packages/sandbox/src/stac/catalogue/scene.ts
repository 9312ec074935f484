import type { JsonObject } from '../../json.js';
import type { Footprint } from '../geo/footprint.js';
import { sampleIndexes, type Random } from '../../random.js';
import { sunElevation } from '../geo/projection.js';

/** The raster of a scene's images, in the units of its projection. */
export interface Grid {
  readonly code: string | null;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** A searchable item. Its links and assets are generated on request. */
export interface Scene {
  readonly collection: string;
  readonly id: string;
  readonly footprint: Footprint;
  readonly properties: JsonObject;
  /** The acquisition interval in milliseconds; equal ends for an instant. */
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

/** The affine transform of the projection extension. */
export function transformOf({ left, top }: Grid, resolution: number): number[] {
  return [resolution, 0, left, 0, -resolution, top];
}

const DAY = 86_400_000;
const HOUR = 3_600_000;

interface Overpasses {
  readonly place: readonly [number, number];
  readonly from: number;
  readonly until: number;
  readonly everyDays: number;
  /** The mean local time of the overpass, in hours. */
  readonly localHour: number;
  readonly needsSun: boolean;
}

export interface Overpass {
  /** The index of the overpass, which alternates between satellites. */
  readonly turn: number;
  readonly time: number;
}

/** Samples overpasses of a sun-synchronous orbit: at a fixed local time, and optionally in daylight. */
export function overpasses(random: Random, plan: Overpasses, count: number): Overpass[] {
  const [lon, lat] = plan.place;
  const phase = Math.floor(random() * plan.everyDays);
  const first = plan.from + phase * DAY + Math.round((plan.localHour - lon / 15) * HOUR);
  const turns = Math.floor((plan.until - first) / (plan.everyDays * DAY));
  const at = (turn: number): number => first + turn * plan.everyDays * DAY;
  const dark = plan.needsSun && Math.abs(lat) > 58 ? darkAt(plan.place) : () => false;
  return sampleIndexes(random, Math.max(0, turns), count, (turn) => !dark(at(turn))).map(
    (turn) => ({
      turn,
      time: at(turn) + Math.floor(random() * 600_000),
    }),
  );
}

function darkAt(place: readonly [number, number]): (time: number) => boolean {
  return (time) => sunElevation(place, time) < 4;
}

/** Cloud cover, with more clear and overcast scenes than mixed ones. */
export function cloudCover(random: Random): number {
  const spread = 0.5 - 0.5 * Math.cos(Math.PI * random());
  return Math.round(100 * (0.3 * random() + 0.7 * spread) * 100) / 100;
}
