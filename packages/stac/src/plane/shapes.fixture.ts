import fc from 'fast-check';
import type { Position } from './shape.js';

export const polygon = (...rings: readonly (readonly Position[])[]) => ({
  type: 'Polygon' as const,
  coordinates: rings.map((ring) => ring.map(([x, y]) => [x, y])),
});

export const box = (west: number, south: number, east: number, north: number) =>
  polygon([
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]);

/** Crosses itself about as often as that many edges can. */
export function star(corners: number): readonly Position[] {
  const ring = Array.from({ length: corners }, (_, index): Position => {
    const angle = (index * 2.399963) % (2 * Math.PI);
    const distance = index % 2 ? 0.45 : 0.05;
    return [0.5 + distance * Math.cos(angle * 7), 0.5 + distance * Math.sin(angle * 7)];
  });
  return [...ring, ring[0]!];
}

/** A ring around a centre, with its corners at any distance: it does not cross itself. */
export const simplePolygon = (size: number) =>
  fc
    .tuple(
      fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 })),
      fc.array(fc.integer({ min: 5, max: 60 }), { minLength: 3, maxLength: 12 }),
    )
    .map(([[x, y], distances]) => {
      const ring = distances.map((distance, index): Position => {
        const angle = ((index + distance / 200) / distances.length) * 2 * Math.PI;
        const [across, up] = [(distance / 10) * Math.cos(angle), (distance / 20) * Math.sin(angle)];
        return [(x + across) * size, 40 + (y + up) * size];
      });
      return polygon([...ring, ring[0]!]);
    });
