import { isObject, type Json } from '../../json.js';
import { badParameter } from '../api/http.js';
import { isMoment } from '../catalogue/catalogue.js';
import type { Scene } from '../catalogue/scene.js';
import { propertyOf } from '../search/select.js';
import { instantOf, overlap, type Span } from '../search/parameters.js';

/** A value of a scene, and whether it is a moment: moments are compared as milliseconds. */
interface Scalar {
  readonly moment: boolean;
  readonly read: (scene: Scene) => Json;
}

/** Gives the name that may be used, or refuses it. */
export type Vocabulary = (name: string) => string;

export function scalarOf(given: unknown, vocabulary: Vocabulary): Scalar {
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean')
    return { moment: false, read: () => given };
  if (!isObject(given)) throw badParameter('filter', 'has an operand that is no value');
  const { property, timestamp, date, op, args } = given;
  if (typeof property === 'string') {
    const name = vocabulary(property);
    return { moment: isMoment(name), read: (scene) => propertyOf(scene, name) };
  }
  if (timestamp !== undefined) return literal(timestamp, momentFrom(timestamp));
  if (date !== undefined) return literal(date, dayFrom(date));
  if (op === 'casei' && Array.isArray(args)) return folded(scalarOf(args[0], vocabulary));
  throw badParameter('filter', `has an operand that is not supported: ${JSON.stringify(given)}`);
}

function literal(given: unknown, ms: number): Scalar {
  if (typeof given !== 'string') throw badParameter('filter', 'has a time that is not text');
  return { moment: true, read: () => ms };
}

function folded({ read }: Scalar): Scalar {
  return {
    moment: false,
    read: (scene) => {
      const value = read(scene);
      return typeof value === 'string' ? value.toLowerCase() : value;
    },
  };
}

function momentFrom(given: unknown): number {
  const ms = typeof given === 'string' ? instantOf(given) : undefined;
  if (ms === undefined)
    throw badParameter('filter', `${JSON.stringify(given)} is not a date and time of RFC 3339`);
  return ms;
}

/** The beginning of a day. */
function dayFrom(given: unknown): number {
  return momentFrom(typeof given === 'string' ? `${given}T00:00:00Z` : given);
}

/** As something that can be compared: moments as numbers, text that is none as null. */
export function comparable(value: Json, asMoment: boolean): Json {
  return asMoment && typeof value === 'string' ? (instantOf(value) ?? null) : value;
}

type Read<Value> = (scene: Scene) => Value | null;

const relations: Readonly<Record<string, (a: Span, b: Span) => boolean>> = {
  t_after: (a, b) => a.from > b.to,
  t_before: (a, b) => a.to < b.from,
  t_contains: (a, b) => a.from < b.from && a.to > b.to,
  t_disjoint: (a, b) => !overlap(a, b),
  t_during: (a, b) => a.from > b.from && a.to < b.to,
  t_equals: (a, b) => a.from === b.from && a.to === b.to,
  t_finishedby: (a, b) => a.from < b.from && a.to === b.to,
  t_finishes: (a, b) => a.from > b.from && a.to === b.to,
  t_intersects: overlap,
  t_meets: (a, b) => a.to === b.from,
  t_metby: (a, b) => a.from === b.to,
  t_overlappedby: (a, b) => a.from > b.from && a.from < b.to && a.to > b.to,
  t_overlaps: (a, b) => a.from < b.from && a.to > b.from && a.to < b.to,
  t_startedby: (a, b) => a.from === b.from && a.to > b.to,
  t_starts: (a, b) => a.from === b.from && a.to < b.to,
};

export function isTemporal(op: string): boolean {
  return Object.hasOwn(relations, op);
}

export function temporalTest(
  op: string,
  args: readonly unknown[],
  vocabulary: Vocabulary,
): Read<boolean> {
  const relation = relations[op];
  const [left, right] = args.map((arg) => spanReader(arg, vocabulary));
  if (!relation || !left || !right || args.length !== 2)
    throw badParameter('filter', `"${op}" needs two times`);
  return (scene) => {
    const [one, other] = [left(scene), right(scene)];
    return one && other ? relation(one, other) : null;
  };
}

const DAY = 86_400_000;

function spanReader(given: unknown, vocabulary: Vocabulary): Read<Span> {
  const { property, timestamp, date, interval } = isObject(given) ? given : {};
  if (typeof property === 'string') return propertySpan(vocabulary(property));
  if (timestamp !== undefined) return moments(momentFrom(timestamp));
  if (date !== undefined) {
    const from = dayFrom(date);
    return moments(from, from + DAY - 1);
  }
  if (!Array.isArray(interval) || interval.length !== 2)
    throw badParameter('filter', 'has a time that is neither moment nor interval');
  const from = endReader(interval[0], -Infinity, 'T00:00:00Z', vocabulary);
  const to = endReader(interval[1], Infinity, 'T23:59:59.999Z', vocabulary);
  return (scene) => {
    const [start, end] = [from(scene), to(scene)];
    return start === null || end === null ? null : { from: start, to: end };
  };
}

function moments(from: number, to = from): Read<Span> {
  return () => ({ from, to });
}

function endReader(
  given: unknown,
  open: number,
  day: string,
  vocabulary: Vocabulary,
): Read<number> {
  if (isObject(given) && typeof given['property'] === 'string')
    return momentReader(vocabulary(given['property']));
  if (given === '..') return () => open;
  const isDay = typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given);
  const ms = momentFrom(isDay ? given + day : given);
  return () => ms;
}

function momentReader(name: string): Read<number> {
  return (scene) => {
    const value = propertyOf(scene, name);
    return typeof value === 'string' ? (instantOf(value) ?? null) : null;
  };
}

/** A scene's `datetime` is the span in which it was taken: some have no single moment. */
function propertySpan(name: string): Read<Span> {
  if (name === 'datetime') return ({ from, to }) => ({ from, to });
  const read = momentReader(name);
  return (scene) => {
    const ms = read(scene);
    return ms === null ? null : { from: ms, to: ms };
  };
}
