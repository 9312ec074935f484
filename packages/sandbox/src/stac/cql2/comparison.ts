import type { Json } from '../../json.js';
import { badParameter } from '../api/problem.js';
import { every, exactly, some, type Test } from './logic.js';
import { comparable, scalarOf, type Vocabulary } from './scalar.js';

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

export function comparison(op: string, args: readonly unknown[], vocabulary: Vocabulary): Test {
  const order = Object.hasOwn(orders, op) ? orders[op] : undefined;
  if (order) {
    const [left, right] = exactly(2, op, args);
    return ordered(order, left, right, vocabulary);
  }
  if (op === 'between') {
    const [value, low, high] = exactly(3, op, args);
    return every([
      comparison('>=', [value, low], vocabulary),
      comparison('<=', [value, high], vocabulary),
    ]);
  }
  if (op === 'isnull') {
    const { read } = scalarOf(exactly(1, op, args)[0], vocabulary);
    return (scene) => read(scene) === null;
  }
  const [left, right] = args;
  if (op === 'in' && Array.isArray(right) && right.length > 0)
    return some(
      right.map((member: unknown) => ordered((it) => it === 0, left, member, vocabulary)),
    );
  if (op === 'like') return like(exactly(2, op, args), vocabulary);
  throw badParameter('filter', `"${op}" is not supported`);
}

function ordered(
  holds: (order: number) => boolean,
  left: unknown,
  right: unknown,
  vocabulary: Vocabulary,
): Test {
  const [one, other] = [scalarOf(left, vocabulary), scalarOf(right, vocabulary)];
  const moment = one.moment || other.moment;
  return (scene) => {
    const order = orderOf(
      comparable(one.read(scene), moment),
      comparable(other.read(scene), moment),
    );
    return order === null ? null : holds(order);
  };
}

/** Values of different kinds have no order, not even an inequality. */
function orderOf(a: Json, b: Json): number | null {
  if (a === null || b === null || typeof a !== typeof b || typeof a === 'object') return null;
  return a < b ? -1 : a > b ? 1 : 0;
}

function like([left, right]: readonly unknown[], vocabulary: Vocabulary): Test {
  const [value, wanted] = [scalarOf(left, vocabulary), scalarOf(right, vocabulary)];
  return (scene) => {
    const [text, pattern] = [value.read(scene), wanted.read(scene)];
    return typeof text === 'string' && typeof pattern === 'string'
      ? likePattern(pattern).test(text)
      : null;
  };
}

/** `%` is any text, `_` any character, and a backslash takes their meaning away. */
function likePattern(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\(.)|[\s\S]/g, (found, escaped: string | undefined) => {
    if (escaped === undefined && found === '%') return '[^]*';
    if (escaped === undefined && found === '_') return '[^]';
    return (escaped ?? found).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 'u');
}
