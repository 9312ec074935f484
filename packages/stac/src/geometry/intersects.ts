import {
  edgesOf,
  type Area,
  type Edges,
  type Position,
  type Shape,
  type WorkBudget,
} from './shape.js';

/**
 * Whether two shapes share a point on the plane of longitudes and latitudes, as catalogues compute it.
 * Undefined if the work budget is exhausted.
 */
export async function shapesIntersect(
  left: Shape,
  right: Shape,
  budget: WorkBudget,
): Promise<boolean | undefined> {
  const [a, b] = [edgesOf(left.lines), edgesOf(right.lines)];
  const [longer, shorter] = a.length > b.length ? [a, b] : [b, a];
  // The steps of the point-in-polygon tests.
  const insideSteps = left.lines.length * b.length + right.lines.length * a.length;
  if (!budget.take(a.length * b.length + insideSteps)) return undefined;
  for (let i = 0; i < longer.length; i++) {
    if (crossesAny(longer, i, shorter)) return true;
    const turn = budget.yieldAfter(shorter.length);
    if (turn) await turn;
  }
  // Without a crossing, each part is completely inside or outside of the other shape.
  return (
    (await hasInside(right.areas, left, budget)) || (await hasInside(left.areas, right, budget))
  );
}

async function hasInside(areas: readonly Area[], { lines }: Shape, budget: WorkBudget) {
  if (areas.length === 0) return false;
  const edges = areas.map(edgesOf);
  for (const [first] of lines) {
    for (const boundary of edges) {
      if (first && isInside(first, boundary)) return true;
      const turn = budget.yieldAfter(boundary.length);
      if (turn) await turn;
    }
  }
  return false;
}

/** Even-odd rule with a ray to the east. */
function isInside([x, y]: Position, { length, x1, y1, x2, y2 }: Edges): boolean {
  let inside = false;
  for (let i = 0; i < length; i++) {
    if (y1[i]! > y === y2[i]! > y) continue;
    const at = x1[i]! + ((y - y1[i]!) / (y2[i]! - y1[i]!)) * (x2[i]! - x1[i]!);
    if (x < at) inside = !inside;
  }
  return inside;
}

function crossesAny(left: Edges, i: number, { length, x1, y1, x2, y2 }: Edges): boolean {
  const [ax, ay, bx, by] = [left.x1[i]!, left.y1[i]!, left.x2[i]!, left.y2[i]!];
  for (let j = 0; j < length; j++) {
    const [cx, cy, dx, dy] = [x1[j]!, y1[j]!, x2[j]!, y2[j]!];
    const isApart =
      Math.max(ax, bx) < Math.min(cx, dx) ||
      Math.max(cx, dx) < Math.min(ax, bx) ||
      Math.max(ay, by) < Math.min(cy, dy) ||
      Math.max(cy, dy) < Math.min(ay, by);
    if (isApart) continue;
    const c = side(ax, ay, bx, by, cx, cy) * side(ax, ay, bx, by, dx, dy);
    const a = side(cx, cy, dx, dy, ax, ay) * side(cx, cy, dx, dy, bx, by);
    if (a <= 0 && c <= 0) return true;
  }
  return false;
}

/** The side of a line on which a point lies; 0 on the line. */
function side(ax: number, ay: number, bx: number, by: number, x: number, y: number): number {
  return Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
}
