/** A half-plane: the positions where a·x + b·y <= c. */
export interface HalfPlane {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

type Point = readonly [number, number];

/** What a convex, open ring keeps inside a half-plane (Sutherland and Hodgman). */
export function clip(ring: readonly Point[], { a, b, c }: HalfPlane): Point[] {
  const over = ([x, y]: Point): number => a * x + b * y - c;
  return ring.flatMap((from, at) => {
    const to = ring[(at + 1) % ring.length] ?? from;
    const [before, after] = [over(from), over(to)];
    const kept: Point[] = before <= 0 ? [from] : [];
    if (before < 0 !== after < 0 && before !== 0 && after !== 0) {
      const share = before / (before - after);
      kept.push([from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
    }
    return kept;
  });
}

/** Twice the area is the sum of the cross products; positive when the ring runs counter-clockwise. */
export function areaOf(ring: readonly Point[]): number {
  return (
    ring.reduce((sum, [x, y], at) => {
      const [nextX, nextY] = ring[(at + 1) % ring.length] ?? [x, y];
      return sum + x * nextY - nextX * y;
    }, 0) / 2
  );
}
