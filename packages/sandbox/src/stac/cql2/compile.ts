import { isObject, type Json } from '../../json.js';
import { badParameter } from '../api/http.js';
import { intersect } from '../geo/geometry.js';
import { partsOfBox, partsOfGeometry } from '../search/parameters.js';
import type { Predicate } from '../search/select.js';
import {
  comparable,
  isTemporal,
  scalarOf,
  temporalCondition,
  type PropertyResolver,
} from './operands.js';
import type { Scene } from '../catalogue/scene.js';

const MAX_DEPTH = 60;

export function compileFilter(filter: unknown, resolveProperty: PropertyResolver): Predicate {
  const test = compile(filter, resolveProperty, 0);
  return (scene) => test(scene) === true;
}

function compile(node: unknown, resolveProperty: PropertyResolver, depth: number): Condition {
  if (typeof node === 'boolean') return () => node;
  if (!isObject(node) || typeof node['op'] !== 'string' || !Array.isArray(node['args']))
    throw badParameter('filter', 'is not an expression of CQL2');
  if (depth > MAX_DEPTH) throw badParameter('filter', 'is nested too deeply');
  const op = node['op'];
  const args: readonly unknown[] = node['args'];
  const inner = (): Condition[] => args.map((arg) => compile(arg, resolveProperty, depth + 1));
  const key = op.toLowerCase();
  if (key === 'and') return every(atLeast(2, op, inner()));
  if (key === 'or') return some(atLeast(2, op, inner()));
  if (key === 'not') return negated(exactly(1, op, inner())[0]);
  if (isTemporal(key)) return temporalCondition(key, args, resolveProperty);
  if (key === 's_intersects') return spatial(exactly(2, op, args), resolveProperty);
  return comparison(key, args, resolveProperty);
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

function comparison(
  op: string,
  args: readonly unknown[],
  resolveProperty: PropertyResolver,
): Condition {
  const order = Object.hasOwn(orders, op) ? orders[op] : undefined;
  if (order) {
    const [left, right] = exactly(2, op, args);
    return ordered(order, left, right, resolveProperty);
  }
  if (op === 'between') {
    const [value, low, high] = exactly(3, op, args);
    return every([
      comparison('>=', [value, low], resolveProperty),
      comparison('<=', [value, high], resolveProperty),
    ]);
  }
  if (op === 'isnull') {
    const { read } = scalarOf(exactly(1, op, args)[0], resolveProperty);
    return (scene) => read(scene) === null;
  }
  const [left, right] = args;
  if (op === 'in' && Array.isArray(right) && right.length > 0)
    return some(
      right.map((member: unknown) => ordered((it) => it === 0, left, member, resolveProperty)),
    );
  if (op === 'like') return like(exactly(2, op, args), resolveProperty);
  throw badParameter('filter', `"${op}" is not supported`);
}

function ordered(
  holds: (order: number) => boolean,
  left: unknown,
  right: unknown,
  resolveProperty: PropertyResolver,
): Condition {
  const [one, other] = [scalarOf(left, resolveProperty), scalarOf(right, resolveProperty)];
  const isInstant = one.isInstant || other.isInstant;
  return (scene) => {
    const order = orderOf(
      comparable(one.read(scene), isInstant),
      comparable(other.read(scene), isInstant),
    );
    return order === null ? null : holds(order);
  };
}

/** Values of different types are not comparable, not even for inequality. */
function orderOf(a: Json, b: Json): number | null {
  if (a === null || b === null || typeof a !== typeof b || typeof a === 'object') return null;
  return a < b ? -1 : a > b ? 1 : 0;
}

function like([left, right]: readonly unknown[], resolveProperty: PropertyResolver): Condition {
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

/** Three-valued logic as in SQL: null if the scene lacks the property. */
type Condition = (scene: Scene) => boolean | null;

function every(tests: readonly Condition[]): Condition {
  return (scene) => {
    let unknown = false;
    for (const test of tests) {
      const held = test(scene);
      if (held === false) return false;
      unknown ||= held === null;
    }
    return unknown ? null : true;
  };
}

function some(tests: readonly Condition[]): Condition {
  const none = every(tests.map(negated));
  return negated(none);
}

function negated(test: Condition = () => null): Condition {
  return (scene) => {
    const held = test(scene);
    return held === null ? null : !held;
  };
}

function atLeast<Arg>(count: number, op: string, args: readonly Arg[]): readonly Arg[] {
  if (args.length < count) throw badParameter('filter', `"${op}" has too few arguments`);
  return args;
}

function exactly<Arg>(count: number, op: string, args: readonly Arg[]): readonly Arg[] {
  if (args.length !== count) throw badParameter('filter', `"${op}" needs ${count} argument(s)`);
  return args;
}
