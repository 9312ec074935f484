import { isObject } from '../../json.js';
import { badParameter } from '../api/problem.js';
import { intersect } from '../geo/intersects.js';
import { partsOfBox, partsOfGeometry } from '../search/area.js';
import type { Predicate } from '../search/query-extension.js';
import { comparison } from './comparison.js';
import { atLeast, every, exactly, negated, some, type Test } from './logic.js';
import type { Vocabulary } from './scalar.js';
import { isTemporal, temporalTest } from './temporal.js';

const MAX_DEPTH = 60;

export function compileFilter(filter: unknown, vocabulary: Vocabulary): Predicate {
  const test = compile(filter, vocabulary, 0);
  return (scene) => test(scene) === true;
}

function compile(node: unknown, vocabulary: Vocabulary, depth: number): Test {
  if (typeof node === 'boolean') return () => node;
  if (!isObject(node) || typeof node['op'] !== 'string' || !Array.isArray(node['args']))
    throw badParameter('filter', 'is not an expression of CQL2');
  if (depth > MAX_DEPTH) throw badParameter('filter', 'is nested too deeply');
  const op = node['op'];
  const args: readonly unknown[] = node['args'];
  const inner = (): Test[] => args.map((arg) => compile(arg, vocabulary, depth + 1));
  const key = op.toLowerCase();
  if (key === 'and') return every(atLeast(2, op, inner()));
  if (key === 'or') return some(atLeast(2, op, inner()));
  if (key === 'not') return negated(exactly(1, op, inner())[0]);
  if (isTemporal(key)) return temporalTest(key, args, vocabulary);
  if (key === 's_intersects') return spatial(exactly(2, op, args), vocabulary);
  return comparison(key, args, vocabulary);
}

function spatial(args: readonly unknown[], vocabulary: Vocabulary): Test {
  const isFootprint = (arg: unknown): boolean =>
    isObject(arg) &&
    typeof arg['property'] === 'string' &&
    vocabulary(arg['property']) === 'geometry';
  const area = args.find((arg) => !isFootprint(arg));
  if (!args.some(isFootprint) || !isObject(area))
    throw badParameter('filter', '"s_intersects" compares the geometry with an area');
  const parts =
    area['bbox'] === undefined ? partsOfGeometry(area, 'filter') : partsOfBox(area['bbox']);
  return ({ footprint }) => intersect(footprint.parts, parts);
}
