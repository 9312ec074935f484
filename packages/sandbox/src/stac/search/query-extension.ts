import { isObject, type Json } from '../../json.js';
import { badParameter } from '../api/problem.js';
import type { Scene } from '../catalogue/scene.js';
import { plainName, propertyOf } from './property.js';

export type Predicate = (scene: Scene) => boolean;

type Compare = (value: Json, wanted: unknown) => boolean;

const ordered =
  (holds: (order: number) => boolean): Compare =>
  (value, wanted) =>
    (typeof value === 'number' && typeof wanted === 'number' && holds(value - wanted)) ||
    (typeof value === 'string' &&
      typeof wanted === 'string' &&
      holds(value < wanted ? -1 : value > wanted ? 1 : 0));

const onText =
  (holds: (value: string, wanted: string) => boolean): Compare =>
  (value, wanted) =>
    typeof value === 'string' && typeof wanted === 'string' && holds(value, wanted);

const operators: Readonly<Record<string, Compare>> = {
  eq: (value, wanted) => value === wanted,
  neq: (value, wanted) => value !== null && value !== wanted,
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  startsWith: onText((value, wanted) => value.startsWith(wanted)),
  endsWith: onText((value, wanted) => value.endsWith(wanted)),
  contains: onText((value, wanted) => value.includes(wanted)),
  in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
};

/** The `query` parameter: for each property some operators, all of which must hold. */
export function queryPredicate(given: unknown): Predicate {
  if (!isObject(given)) throw badParameter('query', 'is not an object');
  const tests = Object.entries(given).flatMap(([property, conditions]) => {
    if (!isObject(conditions)) throw badParameter('query', `"${property}" has no operators`);
    const name = plainName(property);
    return Object.entries(conditions).map(([operator, wanted]): Predicate => {
      const compare = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
      if (!compare) throw badParameter('query', `"${operator}" is not an operator`);
      return (scene) => compare(propertyOf(scene, name), wanted);
    });
  });
  return (scene) => tests.every((test) => test(scene));
}
