import { isObject, type Json } from '../../json.js';
import { badParameter } from '../api/http.js';
import { isDateTime } from '../catalogue/catalogue.js';
import type { Scene } from '../catalogue/scene.js';
import { intersect } from '../geo/geometry.js';
import {
  instantOf,
  overlap,
  partsOfBox,
  partsOfGeometry,
  type Span,
} from '../search/parameters.js';
import { type Predicate, propertyOf } from '../search/select.js';

const MAX_DEPTH = 60;

/** Returns the property's unqualified name, or throws if it is unknown. */
export type PropertyResolver = (name: string) => string;

type Read<Value> = (scene: Scene) => Value | null;

/** Three-valued logic as in SQL: null if the scene lacks the property. */
type Condition = Read<boolean>;

export function compileFilter(filter: unknown, resolveProperty: PropertyResolver): Predicate {
  const test = compile(filter, resolveProperty, 0);
  return (scene) => test(scene) === true;
}

function compile(node: unknown, resolveProperty: PropertyResolver, depth: number): Condition {
  if (typeof node === 'boolean') return () => node;
  if (!isObject(node) || typeof node['op'] !== 'string' || !Array.isArray(node['args']))
    throw badParameter('filter', 'is not an expression of CQL2');
  if (depth > MAX_DEPTH) throw badParameter('filter', 'is nested too deeply');
  const op = node['op'].toLowerCase();
  const args: readonly unknown[] = node['args'];
  const [left, right] = args;
  const needs = (isValid: boolean): void => {
    if (!isValid) throw badParameter('filter', `"${op}" has invalid arguments`);
  };
  if (op === 'and' || op === 'or' || op === 'not') {
    needs(op === 'not' ? args.length === 1 : args.length > 1);
    const inner = args.map((arg) => compile(arg, resolveProperty, depth + 1));
    if (op === 'and') return every(inner);
    return op === 'or' ? some(inner) : negated(inner[0]);
  }
  if (op === 'isnull') {
    needs(args.length === 1);
    const { read } = scalarOf(left, resolveProperty);
    return (scene) => read(scene) === null;
  }
  if (op === 'between') {
    needs(args.length === 3);
    const bounds = [compared('>=', left, right, resolveProperty)];
    return every([...bounds, compared('<=', left, args[2], resolveProperty)]);
  }
  needs(args.length === 2);
  if (Object.hasOwn(relations, op)) return temporal(op, left, right, resolveProperty);
  if (op === 's_intersects') return spatial(args, resolveProperty);
  if (op === 'like') return like(left, right, resolveProperty);
  if (op !== 'in') return compared(op, left, right, resolveProperty);
  needs(Array.isArray(right) && right.length > 0);
  return some((right as unknown[]).map((one) => compared('=', left, one, resolveProperty)));
}

function spatial(args: readonly unknown[], resolveProperty: PropertyResolver): Condition {
  const isFootprint = (arg: unknown): boolean =>
    isObject(arg) &&
    typeof arg['property'] === 'string' &&
    resolveProperty(arg['property']) === 'geometry';
  const area = args.find((arg) => !isFootprint(arg));
  if (!args.some(isFootprint) || !isObject(area))
    throw badParameter('filter', '"s_intersects" compares the geometry with an area');
  const parts =
    area['bbox'] === undefined ? partsOfGeometry(area, 'filter') : partsOfBox(area['bbox']);
  return ({ footprint }) => intersect(footprint.parts, parts);
}

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function compared(
  op: string,
  left: unknown,
  right: unknown,
  resolveProperty: PropertyResolver,
): Condition {
  const holds = Object.hasOwn(orders, op) ? orders[op] : undefined;
  if (!holds) throw badParameter('filter', `"${op}" is not supported`);
  const [one, other] = [scalarOf(left, resolveProperty), scalarOf(right, resolveProperty)];
  const isInstant = one.isInstant || other.isInstant;
  return (scene) => {
    const [a, b] = [one, other].map(({ read }) => {
      const value = read(scene);
      return isInstant && typeof value === 'string' ? (instantOf(value) ?? null) : value;
    }) as [Json, Json];
    // Values of different types are not comparable, not even for inequality.
    if (a === null || b === null || typeof a !== typeof b || typeof a === 'object') return null;
    return holds(a < b ? -1 : a > b ? 1 : 0);
  };
}

function like(left: unknown, right: unknown, resolveProperty: PropertyResolver): Condition {
  const [value, wanted] = [scalarOf(left, resolveProperty), scalarOf(right, resolveProperty)];
  return (scene) => {
    const [text, pattern] = [value.read(scene), wanted.read(scene)];
    return typeof text === 'string' && typeof pattern === 'string'
      ? likePattern(pattern).test(text)
      : null;
  };
}

/** `%` matches any string, `_` any character; a backslash escapes them. */
function likePattern(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\(.)|[\s\S]/g, (found, escaped: string | undefined) => {
    if (escaped === undefined && found === '%') return '[^]*';
    if (escaped === undefined && found === '_') return '[^]';
    return (escaped ?? found).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 'u');
}

function every(tests: readonly Condition[]): Condition {
  return (scene) => {
    const results = tests.map((test) => test(scene));
    return results.includes(false) ? false : results.includes(null) ? null : true;
  };
}

const some = (tests: readonly Condition[]): Condition => negated(every(tests.map(negated)));

function negated(test: Condition = () => null): Condition {
  return (scene) => {
    const held = test(scene);
    return held === null ? null : !held;
  };
}

/** An operand. Instants are compared as milliseconds. */
interface Scalar {
  readonly isInstant: boolean;
  readonly read: (scene: Scene) => Json;
}

function scalarOf(given: unknown, resolveProperty: PropertyResolver): Scalar {
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean')
    return { isInstant: false, read: () => given };
  const { property } = isObject(given) ? given : {};
  if (typeof property === 'string') {
    const name = resolveProperty(property);
    return { isInstant: isDateTime(name), read: (scene) => propertyOf(scene, name) };
  }
  const { from } = spanOf(given);
  return { isInstant: true, read: () => from };
}

const relations: Readonly<Record<string, (a: Span, b: Span) => boolean>> = {
  t_after: (a, b) => a.from > b.to,
  t_before: (a, b) => a.to < b.from,
  t_intersects: overlap,
};

function temporal(
  op: string,
  left: unknown,
  right: unknown,
  resolveProperty: PropertyResolver,
): Condition {
  const [one, other] = [spanReader(left, resolveProperty), spanReader(right, resolveProperty)];
  return (scene) => {
    const [a, b] = [one(scene), other(scene)];
    return a && b ? (relations[op]?.(a, b) ?? null) : null;
  };
}

/** A scene's `datetime` is its acquisition interval, because some have no single instant. */
function spanReader(given: unknown, resolveProperty: PropertyResolver): Read<Span> {
  const { property } = isObject(given) ? given : {};
  if (typeof property !== 'string') {
    const span = spanOf(given);
    return () => span;
  }
  const name = resolveProperty(property);
  return (scene) => {
    if (name === 'datetime') return scene;
    const value = propertyOf(scene, name);
    const ms = typeof value === 'string' ? instantOf(value) : undefined;
    return ms === undefined ? null : { from: ms, to: ms };
  };
}

/** The time of a literal: an instant, a day, or an interval of either. */
function spanOf(given: unknown): Span {
  const { timestamp, date, interval } = isObject(given) ? given : {};
  const point = date ?? timestamp;
  const [start, end] = Array.isArray(interval) ? (interval as unknown[]) : [point, point];
  const edge = (at: unknown, open: number, time: string): number => {
    if (at === '..' && interval !== undefined) return open;
    const isDay = typeof at === 'string' && /^\d{4}-\d\d-\d\d$/.test(at);
    const ms = typeof at === 'string' ? instantOf(isDay ? at + time : at) : undefined;
    if (ms === undefined)
      throw badParameter('filter', `${JSON.stringify(given)} is neither a value nor a time`);
    return ms;
  };
  return {
    from: edge(start, -Infinity, 'T00:00:00Z'),
    to: edge(end, Infinity, 'T23:59:59.999Z'),
  };
}
