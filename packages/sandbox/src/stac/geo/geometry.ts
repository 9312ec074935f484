/** Longitude, then latitude; further numbers (heights) are carried and ignored. */
export type Position = readonly number[];
export type Ring = readonly Position[];

export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly Ring[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly Ring[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] };

/** West, south, east, north. West is greater than east where the antimeridian is crossed. */
export type Box = readonly [number, number, number, number];

/** The same box as one or two that do not cross the antimeridian. */
export function boxesOf([west, south, east, north]: Box): Box[] {
  return west <= east
    ? [[west, south, east, north]]
    : [
        [west, south, 180, north],
        [-180, south, east, north],
      ];
}

/** A box as a geometry; one without width or height is a line or a point, which still meets things. */
export function geometryOfBox(box: Box): Geometry {
  const parts = boxesOf(box).map(([west, south, east, north]): Ring => [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]);
  return { type: 'MultiPolygon', coordinates: parts.map((ring) => [ring]) };
}
