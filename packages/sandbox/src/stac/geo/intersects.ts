import type { Position, Ring } from './geometry.js';
import type { Part } from './parts.js';

/** Do two geometries share a point? Plane, in degrees, borders included: what STAC servers do. */
export function intersect(some: readonly Part[], others: readonly Part[]): boolean {
  return some.some((one) => others.some((other) => boxesMeet(one, other) && partsMeet(one, other)));
}

function boxesMeet({ box: a }: Part, { box: b }: Part): boolean {
  return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
}

function partsMeet(one: Part, other: Part): boolean {
  if (one.lines.some((line) => other.lines.some((path) => linesMeet(line, path)))) return true;
  return liesIn(other, one) || liesIn(one, other);
}

/** Where no border is crossed, one vertex tells whether the whole lies inside. */
function liesIn(inner: Part, area: Part): boolean {
  const vertex = inner.lines[0]?.[0];
  if (area.dimension !== 2 || !vertex) return false;
  const [shell, ...holes] = area.lines;
  return (
    shell !== undefined && inside(vertex, shell) && !holes.some((hole) => inside(vertex, hole))
  );
}

/** Counts how often a ray to the east leaves the ring. Positions on the border were met before. */
function inside([x = 0, y = 0]: Position, ring: Ring): boolean {
  let within = false;
  for (let at = 0; at + 1 < ring.length; at += 1) {
    const [ax = 0, ay = 0] = ring[at] ?? [];
    const [bx = 0, by = 0] = ring[at + 1] ?? [];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}

function linesMeet(one: Ring, other: Ring): boolean {
  for (let at = 0; at < Math.max(1, one.length - 1); at += 1)
    for (let to = 0; to < Math.max(1, other.length - 1); to += 1)
      if (segmentsMeet(one[at], one[at + 1] ?? one[at], other[to], other[to + 1] ?? other[to]))
        return true;
  return false;
}

function segmentsMeet(
  a: Position = [],
  b: Position = [],
  c: Position = [],
  d: Position = [],
): boolean {
  const [abc, abd, cda, cdb] = [side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)];
  if (abc * abd < 0 && cda * cdb < 0) return true;
  return (
    (abc === 0 && between(a, b, c)) ||
    (abd === 0 && between(a, b, d)) ||
    (cda === 0 && between(c, d, a)) ||
    (cdb === 0 && between(c, d, b))
  );
}

/** On which side of the line from a to b a position lies: -1, 0 or 1. */
function side(
  [ax = 0, ay = 0]: Position,
  [bx = 0, by = 0]: Position,
  [x = 0, y = 0]: Position,
): number {
  return Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
}

function between([ax = 0, ay = 0]: Position, [bx = 0, by = 0]: Position, [x = 0, y = 0]: Position) {
  return (
    Math.min(ax, bx) <= x && x <= Math.max(ax, bx) && Math.min(ay, by) <= y && y <= Math.max(ay, by)
  );
}
