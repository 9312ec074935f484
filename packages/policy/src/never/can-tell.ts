import type { Operators } from '../config/types.js';
import type { Truth } from '../condition/truth.js';
import { listedValues, typesOf, type JsonSchema } from '../paths/declared.js';
import { isShort } from './impossible.js';

const named = ['equals', 'notEquals', 'in', 'notIn'] as const;
const bounds = ['gt', 'gte', 'lt', 'lte'];

/** Whether a question has the answer yes or no for every value of this shape. */
export function canTell(
  shape: JsonSchema,
  asked: Operators,
  test: (value: unknown) => Truth,
): boolean {
  const listed = listedValues(shape);
  if (listed) return listed.every((value) => test(value) !== 'unknown');
  const types = typesOf([shape]);
  const names = Object.keys(asked);
  const isComparable = (type: string): boolean =>
    named.flatMap((name) => asked[name] ?? []).every((value) => typeof value === type);
  const tell = (type: string): boolean => {
    switch (type) {
      case 'null':
        return true;
      case 'boolean':
        return [true, false].every((value) => test(value) !== 'unknown');
      case 'number':
        return isComparable(type);
      case 'string':
        // A text may be a number or not, and of a long one nothing is told.
        return (
          isComparable(type) && !names.some((name) => bounds.includes(name)) && isBounded(shape)
        );
      default:
        return names.every((name) => name === 'exists' || isNamed(name));
    }
  };
  return types !== undefined && [...types].every(tell);
}

const isNamed = (name: string): boolean => named.some((one) => one === name);

const isBounded = ({ maxLength }: JsonSchema): boolean =>
  typeof maxLength === 'number' && isShort(maxLength);
