import { isObject, type Json } from '../../json.js';
import { badParameter } from '../api/http.js';
import { isDateTime } from '../catalogue/catalogue.js';
import type { Scene } from '../catalogue/scene.js';
import { propertyOf } from '../search/select.js';
import { instantOf, overlap, type Span } from '../search/parameters.js';

/** An operand. Instants are compared as milliseconds. */
interface Scalar {
  readonly isInstant: boolean;
  readonly read: (scene: Scene) => Json;
}

/** Returns the property's unqualified name, or throws if it is unknown. */
export type PropertyResolver = (name: string) => string;

export function scalarOf(given: unknown, resolveProperty: PropertyResolver): Scalar {
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean')
    return { isInstant: false, read: () => given };
  if (!isObject(given)) throw badParameter('filter', 'has an operand that is no value');
  const { property, timestamp, date, op, args } = given;
  if (typeof property === 'string') {
    const name = resolveProperty(property);
    return { isInstant: isDateTime(name), read: (scene) => propertyOf(scene, name) };
  }
  if (timestamp !== undefined) return literal(timestamp, instantFrom(timestamp));
  if (date !== undefined) return literal(date, dayFrom(date));
  if (op === 'casei' && Array.isArray(args)) return folded(scalarOf(args[0], resolveProperty));
  throw badParameter('filter', `has an operand that is not supported: ${JSON.stringify(given)}`);
}

function literal(given: unknown, ms: number): Scalar {
  if (typeof given !== 'string') throw badParameter('filter', 'has a time that is not a string');
  return { isInstant: true, read: () => ms };
}

function folded({ read }: Scalar): Scalar {
  return {
    isInstant: false,
    read: (scene) => {
      const value = read(scene);
      return typeof value === 'string' ? value.toLowerCase() : value;
    },
  };
}

function instantFrom(given: unknown): number {
  const ms = typeof given === 'string' ? instantOf(given) : undefined;
  if (ms === undefined)
    throw badParameter('filter', `${JSON.stringify(given)} is not a date and time of RFC 3339`);
  return ms;
}

/** The start of a day. */
function dayFrom(given: unknown): number {
  return instantFrom(typeof given === 'string' ? `${given}T00:00:00Z` : given);
}

/** Converts instants to milliseconds, and invalid ones to null. */
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

export function temporalCondition(
  op: string,
  args: readonly unknown[],
  resolveProperty: PropertyResolver,
): Read<boolean> {
  const relation = relations[op];
  const [left, right] = args.map((arg) => spanReader(arg, resolveProperty));
  if (!relation || !left || !right || args.length !== 2)
    throw badParameter('filter', `"${op}" needs two times`);
  return (scene) => {
    const [one, other] = [left(scene), right(scene)];
    return one && other ? relation(one, other) : null;
  };
}

const DAY = 86_400_000;

function spanReader(given: unknown, resolveProperty: PropertyResolver): Read<Span> {
  const { property, timestamp, date, interval } = isObject(given) ? given : {};
  if (typeof property === 'string') return propertySpan(resolveProperty(property));
  if (timestamp !== undefined) return constantSpan(instantFrom(timestamp));
  if (date !== undefined) {
    const from = dayFrom(date);
    return constantSpan(from, from + DAY - 1);
  }
  if (!Array.isArray(interval) || interval.length !== 2)
    throw badParameter('filter', 'has a time that is neither moment nor interval');
  const from = endReader(interval[0], -Infinity, 'T00:00:00Z', resolveProperty);
  const to = endReader(interval[1], Infinity, 'T23:59:59.999Z', resolveProperty);
  return (scene) => {
    const [start, end] = [from(scene), to(scene)];
    return start === null || end === null ? null : { from: start, to: end };
  };
}

function constantSpan(from: number, to = from): Read<Span> {
  return () => ({ from, to });
}

function endReader(
  given: unknown,
  open: number,
  day: string,
  resolveProperty: PropertyResolver,
): Read<number> {
  if (isObject(given) && typeof given['property'] === 'string')
    return instantReader(resolveProperty(given['property']));
  if (given === '..') return () => open;
  const isDay = typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given);
  const ms = instantFrom(isDay ? given + day : given);
  return () => ms;
}

function instantReader(name: string): Read<number> {
  return (scene) => {
    const value = propertyOf(scene, name);
    return typeof value === 'string' ? (instantOf(value) ?? null) : null;
  };
}

/** A scene's `datetime` is its acquisition interval, because some have no single instant. */
function propertySpan(name: string): Read<Span> {
  if (name === 'datetime') return ({ from, to }) => ({ from, to });
  const read = instantReader(name);
  return (scene) => {
    const ms = read(scene);
    return ms === null ? null : { from: ms, to: ms };
  };
}
