import { docOf, listOf, numberOf, textOf } from '../json.js';

export type Position = readonly [x: number, y: number];
export type Line = readonly Position[];
/** An outer ring and its holes. */
export type Area = readonly Line[];

/** A geometry, taken apart. Points are lines of one position. */
export interface Shape {
  readonly lines: readonly Line[];
  readonly areas: readonly Area[];
}

type Reader = (coordinates: unknown) => Shape | undefined;

const readers: Readonly<Record<string, Reader>> = {
  Point: (one) => linesIn([[one]]),
  MultiPoint: (many) => linesIn(listOf(many).map((one) => [one])),
  LineString: (one) => linesIn([one]),
  MultiLineString: (many) => linesIn(listOf(many)),
  Polygon: (one) => areasIn([one]),
  MultiPolygon: (many) => areasIn(listOf(many)),
};

/** The parts of a GeoJSON geometry from outside; undefined if it is none. */
export function readShape(geometry: unknown): Shape | undefined {
  const doc = docOf(geometry);
  const type = textOf(doc?.['type']) ?? '';
  return Object.hasOwn(readers, type) ? readers[type]!(doc?.['coordinates']) : undefined;
}

function linesIn(given: readonly unknown[]): Shape | undefined {
  const lines = all(given, lineOf);
  return lines && { lines, areas: [] };
}

function areasIn(given: readonly unknown[]): Shape | undefined {
  const areas = all(given, (area) => all(listOf(area), ringOf));
  return areas && { lines: areas.flat(), areas };
}

function lineOf(given: unknown): Line | undefined {
  return all(listOf(given), positionOf);
}

/** Closed, where somebody forgot to. */
function ringOf(given: unknown): Line | undefined {
  const line = lineOf(given);
  const [first, last] = [line?.[0], line?.at(-1)];
  if (!line || !first || !last) return undefined;
  return first[0] === last[0] && first[1] === last[1] ? line : [...line, first];
}

function positionOf(given: unknown): Position | undefined {
  const [x, y] = listOf(given);
  const [lon, lat] = [numberOf(x), numberOf(y)];
  if (lon === undefined || lat === undefined) return undefined;
  return Math.abs(lon) <= 360 && Math.abs(lat) <= 90 ? [lon, lat] : undefined;
}

/** All of them, at least one, or nothing: half a shape would be another one. */
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

/** From a position to the next, as plain numbers: there may be many of them. */
export interface Edges {
  readonly length: number;
  readonly x1: Float64Array;
  readonly y1: Float64Array;
  readonly x2: Float64Array;
  readonly y2: Float64Array;
}

/** A line of one position gives one edge without length. */
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

/** Work that is bounded, and that lets others have their turn while it lasts. */
export interface Effort {
  /** Whether that many steps may still be taken. They are used up if so. */
  readonly take: (steps: number) => boolean;
  /** After each piece of work: something to wait for, once enough has been done at a stretch. */
  readonly rest: (steps: number) => Promise<void> | undefined;
}

/** About a third of a second of comparing edges, in all. */
const MAX_STEPS = 20_000_000;
/** A few milliseconds: what others wait for at most. */
const STRETCH = 100_000;

/** One for each call: whoever sends a hundred difficult shapes gets no more than who sends one. */
export function createEffort(signal: AbortSignal, steps = MAX_STEPS): Effort {
  let left = steps;
  let stretch = 0;
  return {
    take: (wanted) => {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
    rest: (taken) => {
      stretch += taken;
      if (stretch < STRETCH) return undefined;
      stretch = 0;
      return turn(signal);
    },
  };
}

async function turn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  signal.throwIfAborted();
}
