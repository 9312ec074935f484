/**
 * Landsat's Worldwide Reference System 2: 233 paths, 248 rows, row 60 on the equator going south. The grid
 * follows from the orbit: 98.2° inclination and 233 turns in 16 days.
 */
const PATHS = 233;
const ROWS = 248;
const EQUATOR_ROW = 60;
const FIRST_NODE = -64.6;
const INCLINATION = (98.2 * Math.PI) / 180;
const EARTH_TURN = (16 * 360) / PATHS;
const radians = (angle: number): number => (angle * Math.PI) / 180;
const degrees = (angle: number): number => (angle * 180) / Math.PI;
const wrapped = (lon: number): number => ((((lon + 180) % 360) + 360) % 360) - 180;

export interface PathRow {
  readonly path: number;
  readonly row: number;
}

export interface SceneFrame extends PathRow {
  readonly centre: readonly [number, number];
  /** Direction of flight, clockwise from north. */
  readonly heading: number;
}

export function pathRowAt([lon, lat]: readonly [number, number]): PathRow {
  const sine = Math.min(1, Math.max(-1, Math.sin(radians(lat)) / Math.sin(INCLINATION)));
  const beforeNode = degrees(Math.asin(sine));
  const row = Math.min(122, Math.max(1, Math.round(EQUATOR_ROW - (beforeNode / 360) * ROWS)));
  const offset = lonFromNode(((EQUATOR_ROW - row) / ROWS) * 360);
  const west = wrapped(FIRST_NODE - (lon - offset) - 180) + 180; // how far west of the first node, 0 to 360
  return { path: (Math.round((west / 360) * PATHS) % PATHS) + 1, row };
}

export function frameOf({ path, row }: PathRow): SceneFrame {
  const beforeNode = ((EQUATOR_ROW - row) / ROWS) * 360;
  const at = (angle: number): [number, number] => [
    FIRST_NODE - ((path - 1) * 360) / PATHS + lonFromNode(angle),
    degrees(Math.asin(Math.sin(INCLINATION) * Math.sin(radians(angle)))),
  ];
  const [lon, lat] = at(beforeNode);
  const [nextLon, nextLat] = at(beforeNode - 0.1); // a moment later, nearer to the node
  const heading = degrees(Math.atan2((nextLon - lon) * Math.cos(radians(lat)), nextLat - lat));
  return { path, row, centre: [wrapped(lon), lat], heading: (heading + 360) % 360 };
}

/** Longitude east of the descending node while the satellite is still so many degrees before it. */
function lonFromNode(angle: number): number {
  const inPlane = degrees(
    Math.atan2(-Math.cos(INCLINATION) * Math.sin(radians(angle)), Math.cos(radians(angle))),
  );
  return inPlane + (angle / 360) * EARTH_TURN;
}
