import fc from 'fast-check';
import type { JsonSchema } from '../paths/declared.js';

/** Schemas of one argument, small enough that all it can be is soon tried. */
const small = fc.integer({ min: -1, max: 4 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const without = (shape: object): JsonSchema =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));

const numbers = fc
  .record({
    type: fc.constantFrom('integer', 'number', ['integer', 'null'], ['number', 'string']),
    minimum: optional(small),
    maximum: optional(small),
    exclusiveMinimum: optional(fc.oneof(small, fc.constant(true))),
    exclusiveMaximum: optional(small),
  })
  .map(without);
const texts = fc
  .record({
    type: fc.constantFrom('string', ['string', 'null'], ['string', 'boolean']),
    minLength: optional(fc.integer({ min: 0, max: 3 })),
    maxLength: optional(fc.integer({ min: 0, max: 3 })),
    pattern: optional(fc.constantFrom('^a', '^[ab]+$', 'b$', '^.$', '^(a|b)*$', '[^a]')),
  })
  .map(without);
const choices = fc.constantFrom<JsonSchema>(
  { enum: ['a', 'b'] },
  { enum: ['a', 1, null] },
  { type: 'string', enum: ['a', 'ab'] },
  { const: 'a' },
  { const: true },
  { type: 'boolean' },
  {},
);
const plain = fc.oneof(numbers, texts, choices);
const lists = fc
  .record({
    type: fc.constantFrom('array', ['array', 'string']),
    items: optional(plain),
    minItems: optional(fc.integer({ min: 0, max: 2 })),
    maxItems: optional(fc.integer({ min: 0, max: 2 })),
  })
  .map(without);

export const argument: fc.Arbitrary<JsonSchema> = fc.oneof(
  plain,
  lists,
  fc.tuple(plain, plain).map((anyOf) => ({ anyOf })),
  fc.tuple(plain, lists).map((oneOf) => ({ oneOf })),
  fc.tuple(plain, plain).map((allOf) => ({ allOf, description: 'both' })),
);

const words = ['', 'a', 'b', 'A', 'ab', 'aB', 'abc', '1', '1.5', '😀', 'a😀'];
const scalars = [...words, true, false, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 5];

/** Everything that an argument is tried with. */
export const values: readonly unknown[] = [
  ...scalars,
  null,
  {},
  [],
  ...scalars.map((one) => [one]),
  ...scalars.map((one, at) => [one, scalars[(at + 5) % scalars.length]]),
  ['a', 'b', 'a'],
  [null],
];

/** By the letter of JSON Schema, or by the habits of zod: whichever lets more pass. */
export function accepts(schema: unknown, value: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return schema !== false;
  const { type, enum: list, const: only, anyOf, oneOf, allOf, ...rest } = schema as JsonSchema;
  const each = (part: unknown) => part as readonly unknown[];
  if (type !== undefined && ![type as string | string[]].flat().some((one) => isOf(one, value)))
    return false;
  if (list !== undefined && !each(list).includes(value)) return false;
  if (only !== undefined && only !== value) return false;
  for (const part of [anyOf, oneOf]) {
    if (part && !each(part).some((one) => accepts(one, value))) return false;
  }
  if (allOf && !each(allOf).every((one) => accepts(one, value))) return false;
  const limit = (name: string, other: number): number =>
    typeof rest[name] === 'number' ? rest[name] : other;
  if (typeof value === 'number') {
    return (
      value >= limit('minimum', -Infinity) &&
      value <= limit('maximum', Infinity) &&
      value > limit('exclusiveMinimum', -Infinity) &&
      value < limit('exclusiveMaximum', Infinity)
    );
  }
  if (typeof value === 'string') {
    const { pattern = '' } = rest as { pattern?: string };
    return (
      value.length >= limit('minLength', 0) &&
      Array.from(value).length <= limit('maxLength', Infinity) &&
      ['', 'i', 'u'].some((flags) => new RegExp(pattern, flags).test(value))
    );
  }
  if (!Array.isArray(value)) return true;
  const items: readonly unknown[] = value;
  const isSized =
    items.length >= limit('minItems', 0) && items.length <= limit('maxItems', Infinity);
  return isSized && items.every((item) => accepts(rest['items'] ?? {}, item));
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
