import { sampleIndexes, type Random } from '../../random/random.js';
import { sunElevation } from '../geo/sphere.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;

export interface Overpasses {
  readonly place: readonly [number, number];
  readonly from: number;
  readonly until: number;
  readonly everyDays: number;
  /** Mean local time of the overpass, in hours. */
  readonly localHour: number;
  readonly needsSun: boolean;
}

export interface Overpass {
  /** Which overpass since the first one, to tell satellites that take turns apart. */
  readonly turn: number;
  readonly time: number;
}

/** Some of a sun-synchronous orbit's overpasses: always at the same local time, never in the dark. */
export function overpasses(random: Random, plan: Overpasses, count: number): Overpass[] {
  const [lon, lat] = plan.place;
  const phase = Math.floor(random() * plan.everyDays);
  const first = plan.from + phase * DAY + Math.round((plan.localHour - lon / 15) * HOUR);
  const turns = Math.floor((plan.until - first) / (plan.everyDays * DAY));
  const at = (turn: number): number => first + turn * plan.everyDays * DAY;
  const dark = plan.needsSun && Math.abs(lat) > 58 ? darkAt(plan.place) : () => false;
  return sampleIndexes(random, Math.max(0, turns), count, (turn) => !dark(at(turn))).map(
    (turn) => ({
      turn,
      time: at(turn) + Math.floor(random() * 600_000),
    }),
  );
}

function darkAt(place: readonly [number, number]): (time: number) => boolean {
  return (time) => sunElevation(place, time) < 4;
}

/** Clouds come in extremes: many scenes are clear, many are covered, fewer are in between. */
export function cloudCover(random: Random): number {
  const spread = 0.5 - 0.5 * Math.cos(Math.PI * random());
  return Math.round(100 * (0.3 * random() + 0.7 * spread) * 100) / 100;
}
