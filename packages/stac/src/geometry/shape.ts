import { arrayOf, numberOf, objectOf, stringOf } from '@toolkeel/pack-kit';

export type Position = readonly [x: number, y: number];
export type Line = readonly Position[];
/** An outer ring and its holes. */
export type Area = readonly Line[];

/** The parts of a geometry. Points are lines with one position. */
export interface Shape {
  readonly lines: readonly Line[];
  readonly areas: readonly Area[];
}

type Reader = (coordinates: unknown) => Shape | undefined;

const readers: Readonly<Record<string, Reader>> = {
  Point: (position) => linesIn([[position]]),
  MultiPoint: (many) => linesIn(arrayOf(many).map((one) => [one])),
  LineString: (one) => linesIn([one]),
  MultiLineString: (many) => linesIn(arrayOf(many)),
  Polygon: (one) => areasIn([one]),
  MultiPolygon: (many) => areasIn(arrayOf(many)),
};

/** Parses an untrusted GeoJSON geometry; undefined if it is invalid. */
export function parseShape(geometry: unknown): Shape | undefined {
  const doc = objectOf(geometry);
  const type = stringOf(doc?.['type']) ?? '';
  return Object.hasOwn(readers, type) ? readers[type]!(doc?.['coordinates']) : undefined;
}

function linesIn(given: readonly unknown[]): Shape | undefined {
  const lines = all(given, lineOf);
  return lines && { lines, areas: [] };
}

function areasIn(given: readonly unknown[]): Shape | undefined {
  const areas = all(given, (area) => all(arrayOf(area), ringOf));
  return areas && { lines: areas.flat(), areas };
}

function lineOf(given: unknown): Line | undefined {
  return all(arrayOf(given), positionOf);
}

/** Closes rings that are not closed. */
function ringOf(given: unknown): Line | undefined {
  const line = lineOf(given);
  const [first, last] = [line?.[0], line?.at(-1)];
  if (!line || !first || !last) return undefined;
  return first[0] === last[0] && first[1] === last[1] ? line : [...line, first];
}

function positionOf(given: unknown): Position | undefined {
  const [x, y] = arrayOf(given);
  const [lon, lat] = [numberOf(x), numberOf(y)];
  if (lon === undefined || lat === undefined) return undefined;
  return Math.abs(lon) <= 360 && Math.abs(lat) <= 90 ? [lon, lat] : undefined;
}

/** Undefined if the list is empty or any entry is invalid. */
function all<T>(
  given: readonly unknown[],
  read: (one: unknown) => T | undefined,
): readonly T[] | undefined {
  const found: T[] = [];
  for (const one of given) {
    const value = read(one);
    if (value === undefined) return undefined;
    found.push(value);
  }
  return found.length > 0 ? found : undefined;
}

/** Edges in typed arrays, because there may be many. */
export interface Edges {
  readonly length: number;
  readonly x1: Float64Array;
  readonly y1: Float64Array;
  readonly x2: Float64Array;
  readonly y2: Float64Array;
}

/** A line with one position becomes one edge of length 0. */
export function edgesOf(lines: readonly Line[]): Edges {
  const length = lines.reduce((sum, line) => sum + Math.max(1, line.length - 1), 0);
  const [x1, y1, x2, y2] = Array.from({ length: 4 }, () => new Float64Array(length)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  let at = 0;
  for (const line of lines) {
    for (let index = 0; index < Math.max(1, line.length - 1); index++) {
      const [from, to] = [line[index]!, line[Math.min(index + 1, line.length - 1)]!];
      [x1[at], y1[at], x2[at], y2[at]] = [from[0], from[1], to[0], to[1]];
      at++;
    }
  }
  return { length, x1, y1, x2, y2 };
}

/** Bounds CPU-intensive work and yields to the event loop. */
export interface WorkBudget {
  /** Reserves steps; false if fewer are left. */
  readonly take: (steps: number) => boolean;
  /** Call after each piece of work; await the promise, if any, to yield to the event loop. */
  readonly yieldAfter: (steps: number) => Promise<void> | undefined;
}

/** About a third of a second of edge comparisons. */
const MAX_STEPS = 20_000_000;
/** A few milliseconds of work between yields. */
const STEPS_PER_TURN = 100_000;

/** Create one per call, so that many complex shapes share one budget. */
export function createWorkBudget(signal: AbortSignal, steps = MAX_STEPS): WorkBudget {
  let left = steps;
  let sinceYield = 0;
  return {
    take: (wanted) => {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
    yieldAfter: (taken) => {
      sinceYield += taken;
      if (sinceYield < STEPS_PER_TURN) return undefined;
      sinceYield = 0;
      return yieldToEventLoop(signal);
    },
  };
}

async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  signal.throwIfAborted();
}
