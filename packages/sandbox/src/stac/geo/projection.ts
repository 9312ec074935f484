import type { Point } from './geometry.js';

/** Universal Transverse Mercator on WGS 84, by Krüger's series, accurate to a millimetre. */
export interface Utm {
  readonly zone: number;
  readonly south: boolean;
}

const RADIUS = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const N = FLATTENING / (2 - FLATTENING);
const ECCENTRICITY = (2 * Math.sqrt(N)) / (1 + N);
const SCALE = 0.9996 * (RADIUS / (1 + N)) * (1 + N ** 2 / 4 + N ** 4 / 64);
const FALSE_EASTING = 500_000;

const TO_PLANE = [
  N / 2 - (2 * N ** 2) / 3 + (5 * N ** 3) / 16 + (41 * N ** 4) / 180,
  (13 * N ** 2) / 48 - (3 * N ** 3) / 5 + (557 * N ** 4) / 1440,
  (61 * N ** 3) / 240 - (103 * N ** 4) / 140,
  (49_561 * N ** 4) / 161_280,
];
const TO_SPHERE = [
  N / 2 - (2 * N ** 2) / 3 + (37 * N ** 3) / 96 - N ** 4 / 360,
  N ** 2 / 48 + N ** 3 / 15 - (437 * N ** 4) / 1440,
  (17 * N ** 3) / 480 - (37 * N ** 4) / 840,
  (4397 * N ** 4) / 161_280,
];
const TO_LATITUDE = [
  2 * N - (2 * N ** 2) / 3 - 2 * N ** 3 + (116 * N ** 4) / 45,
  (7 * N ** 2) / 3 - (8 * N ** 3) / 5 - (227 * N ** 4) / 45,
  (56 * N ** 3) / 15 - (136 * N ** 4) / 35,
  (4279 * N ** 4) / 630,
];

const radians = (angle: number): number => (angle * Math.PI) / 180;
const degrees = (angle: number): number => (angle * 180) / Math.PI;
const meridian = (zone: number): number => zone * 6 - 183;
const falseNorthing = (south: boolean): number => (south ? 10_000_000 : 0);

const sum = (series: readonly number[], term: (order: number) => number): number =>
  series.reduce((total, factor, at) => total + factor * term(2 * (at + 1)), 0);

export function toUtm([lon, lat]: Point, { zone, south }: Utm): [number, number] {
  const sine = Math.sin(radians(lat));
  const t = Math.sinh(Math.atanh(sine) - ECCENTRICITY * Math.atanh(ECCENTRICITY * sine));
  const east = radians(lon - meridian(zone));
  const xi = Math.atan2(t, Math.cos(east));
  const eta = Math.atanh(Math.sin(east) / Math.sqrt(1 + t * t));
  const x = eta + sum(TO_PLANE, (k) => Math.cos(k * xi) * Math.sinh(k * eta));
  const y = xi + sum(TO_PLANE, (k) => Math.sin(k * xi) * Math.cosh(k * eta));
  return [FALSE_EASTING + SCALE * x, falseNorthing(south) + SCALE * y];
}

/** The longitude is not wrapped: across the antimeridian it exceeds ±180. */
export function fromUtm([x, y]: Point, { zone, south }: Utm): [number, number] {
  const xi = (y - falseNorthing(south)) / SCALE;
  const eta = (x - FALSE_EASTING) / SCALE;
  const onSphereXi = xi - sum(TO_SPHERE, (k) => Math.sin(k * xi) * Math.cosh(k * eta));
  const onSphereEta = eta - sum(TO_SPHERE, (k) => Math.cos(k * xi) * Math.sinh(k * eta));
  const conformal = Math.asin(Math.sin(onSphereXi) / Math.cosh(onSphereEta));
  const lat = conformal + sum(TO_LATITUDE, (k) => Math.sin(k * conformal));
  const lon = Math.atan2(Math.sinh(onSphereEta), Math.cos(onSphereXi));
  return [meridian(zone) + degrees(lon), degrees(lat)];
}

/** The EPSG code of a zone. */
export function epsgOf({ zone, south }: Utm): number {
  return (south ? 32_700 : 32_600) + zone;
}

const EARTH = 6_371_008.8;

/** The destination on a great circle. The longitude is not wrapped. */
export function travel([lon, lat]: Point, bearing: number, metres: number): [number, number] {
  const [arc, course, from] = [metres / EARTH, radians(bearing), radians(lat)];
  const sine = Math.sin(from) * Math.cos(arc) + Math.cos(from) * Math.sin(arc) * Math.cos(course);
  const east = Math.atan2(
    Math.sin(course) * Math.sin(arc) * Math.cos(from),
    Math.cos(arc) - Math.sin(from) * sine,
  );
  return [lon + degrees(east), degrees(Math.asin(sine))];
}

/** The corners of a rectangle in metres around a centre, rotated to a bearing. */
export function rectangleAround(
  centre: Point,
  bearing: number,
  [along, across]: Point,
): [number, number][] {
  return [
    [1, 1],
    [1, -1],
    [-1, -1],
    [-1, 1],
  ].map(([ahead = 0, aside = 0]) => {
    const front = travel(centre, bearing, (ahead * along) / 2);
    return travel(front, bearing + 90, (aside * across) / 2);
  });
}

const DAY = 86_400_000;
const EQUINOX = Date.UTC(2000, 2, 20, 7, 35);
const YEAR = 365.2422;

/** The elevation of the sun in degrees, accurate to one or two. */
export function sunElevation([lon, lat]: Point, time: number): number {
  const tilt = radians(23.44) * Math.sin((2 * Math.PI * (time - EQUINOX)) / (DAY * YEAR));
  const hourAngle = 2 * Math.PI * ((time % DAY) / DAY - 0.5) + radians(lon);
  const sine =
    Math.sin(radians(lat)) * Math.sin(tilt) +
    Math.cos(radians(lat)) * Math.cos(tilt) * Math.cos(hourAngle);
  return degrees(Math.asin(sine));
}
