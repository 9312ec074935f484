const EARTH = 6_371_008.8;
const radians = (angle: number): number => (angle * Math.PI) / 180;
const degrees = (angle: number): number => (angle * 180) / Math.PI;

/** Where one arrives after some metres on a great circle. The longitude is not wrapped. */
export function travel(
  [lon, lat]: readonly [number, number],
  bearing: number,
  metres: number,
): [number, number] {
  const [arc, course, from] = [metres / EARTH, radians(bearing), radians(lat)];
  const sine = Math.sin(from) * Math.cos(arc) + Math.cos(from) * Math.sin(arc) * Math.cos(course);
  const east = Math.atan2(
    Math.sin(course) * Math.sin(arc) * Math.cos(from),
    Math.cos(arc) - Math.sin(from) * sine,
  );
  return [lon + degrees(east), degrees(Math.asin(sine))];
}

/** A rectangle on the ground around a centre, turned to a bearing, as a ring of four corners. */
export function rectangleAround(
  centre: readonly [number, number],
  bearing: number,
  [along, across]: readonly [number, number],
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

/** Height of the sun over the horizon, good to a degree or two. */
export function sunElevation([lon, lat]: readonly [number, number], time: number): number {
  const tilt = radians(23.44) * Math.sin((2 * Math.PI * (time - EQUINOX)) / (DAY * YEAR));
  const hourAngle = 2 * Math.PI * ((time % DAY) / DAY - 0.5) + radians(lon);
  const sine =
    Math.sin(radians(lat)) * Math.sin(tilt) +
    Math.cos(radians(lat)) * Math.cos(tilt) * Math.cos(hourAngle);
  return degrees(Math.asin(sine));
}
