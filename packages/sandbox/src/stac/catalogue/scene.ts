import type { JsonObject } from '../../json.js';
import { between, randomOf, sampleIndexes, type Random } from '../../random.js';
import { type Box, type Geometry, type Part, partsOf, type Ring } from '../geo/geometry.js';
import type { Product, SceneTemplate, Schedule } from './product.js';

/** The raster of a scene's images, in the units of its projection. */
export interface Grid {
  readonly code: string | null;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Footprint {
  readonly geometry: Geometry;
  /** West is greater than east across the antimeridian. */
  readonly bbox: Box;
  /** The geometry's parts, for intersection tests. */
  readonly parts: readonly Part[];
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

/** Rows and columns at a resolution. */
export function shapeOf({ width, height }: Grid, resolution: number): [number, number] {
  return [Math.round(height / resolution), Math.round(width / resolution)];
}

/** The affine transform of the projection extension. */
export function transformOf({ left, top }: Grid, resolution: number): number[] {
  return [resolution, 0, left, 0, -resolution, top];
}

/** The footprint of one ring, or of two rings west and east of the antimeridian. */
export function footprintOf(area: readonly Ring[]): Footprint {
  const geometry: Geometry =
    area.length === 1
      ? { type: 'Polygon', coordinates: area }
      : { type: 'MultiPolygon', coordinates: area.map((ring) => [ring]) };
  const parts = partsOf(geometry);
  const boxes = parts.map(({ box }) => box);
  const bbox: Box = [
    boxes[0]?.[0] ?? 0,
    Math.min(...boxes.map(([, south]) => south)),
    boxes.at(-1)?.[2] ?? 0,
    Math.max(...boxes.map(([, , , north]) => north)),
  ];
  return { geometry, bbox, parts };
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UNTIL = Date.UTC(2026, 0, 1);

/** The scenes of a collection: as listed, or at random overpasses of a repeat cycle. */
export function scenesOf(product: Product, seed: number, scale: number): Scene[] {
  const { id, templates, schedule } = product;
  const count = Math.ceil(product.count * scale);
  const footprints = templates.map(({ area }) => footprintOf(area));
  const sceneAt = (at: number, sceneId: string, own: JsonObject): Scene => {
    const { grid, properties } = templates[at] as SceneTemplate;
    const all: JsonObject = { ...own, ...product.properties, ...properties };
    const instant = (name: string): number => Date.parse((all[name] ?? all['datetime']) as string);
    return {
      collection: id,
      id: sceneId,
      footprint: footprints[at] as Footprint,
      properties: all,
      from: instant('start_datetime'),
      to: instant('end_datetime'),
      ...(grid && { grid }),
    };
  };
  if (!schedule)
    return templates.slice(0, count).map((template, at) => sceneAt(at, template.id, {}));
  return templates.flatMap(({ id: pattern, from = '' }, at) => {
    const random = randomOf(seed, id, at);
    const share = Math.floor(count / templates.length) + (at < count % templates.length ? 1 : 0);
    const first = Date.parse(from);
    const cycle = schedule.everyDays * DAY;
    return sampleIndexes(random, Math.floor((UNTIL - first) / cycle), share).map((turn) => {
      const time = first + turn * cycle + Math.floor(random() * 600_000);
      return sceneAt(at, idFrom(pattern, id, time), scheduledProperties(schedule, time, random));
    });
  });
}

function idFrom(pattern: string, collection: string, time: number): string {
  const second = isoTime(time).slice(0, 19).replaceAll(/[-:]/g, '');
  return pattern
    .replace('{second}', second)
    .replace('{day}', second.slice(0, 8))
    .replace('{level}', collection.slice(-3).toUpperCase());
}

function scheduledProperties(schedule: Schedule, time: number, random: Random): JsonObject {
  const { created, updated, seconds, cloudy } = schedule;
  const later = (hours: readonly [number, number]): string =>
    isoTime(time + Math.round(between(random, ...hours) * HOUR));
  return {
    datetime: isoTime(time),
    ...(seconds !== undefined && {
      start_datetime: isoTime(time - seconds * 500),
      end_datetime: isoTime(time + seconds * 500),
    }),
    created: later(created),
    updated: later(updated),
    ...(cloudy && { 'eo:cloud_cover': cloudCover(random) }),
  };
}

/** Cloud cover, with more clear and overcast scenes than mixed ones. */
function cloudCover(random: Random): number {
  const spread = 0.5 - 0.5 * Math.cos(Math.PI * random());
  return Math.round(100 * (0.3 * random() + 0.7 * spread) * 100) / 100;
}
