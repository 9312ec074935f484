import { isObject } from '../../json.js';
import { badParameter } from '../api/problem.js';
import type { Scene } from '../catalogue/scene.js';
import { propertyOf } from '../search/property.js';
import { instantOf, overlap, type Span } from '../search/time.js';
import { dayFrom, momentFrom, type Vocabulary } from './scalar.js';

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
