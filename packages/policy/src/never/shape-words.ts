import { boundsWords } from '../condition/compare.js';
import type { Bounds } from '../config/types.js';
import { isScalar, listedValues, type JsonSchema } from '../paths/declared.js';
import { listWords } from '../text/words.js';

const nouns: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'nothing',
};

/** `a number of at least 0 and at most 50`: what a schema says of an argument, as far as it matters. */
export function shapeWords(shape: JsonSchema): string {
  const listed = listedValues(shape)?.filter(isScalar);
  if (listed) return listWords(listed);
  const noun = [shape['type']].flat().map((type) => nouns[String(type)] ?? String(type));
  const size = sizeWords(shape);
  const { pattern } = shape;
  const like = typeof pattern === 'string' ? ` that fits ${pattern.slice(0, 60)}` : '';
  return `${noun.join(' or ')}${size}${like}`;
}

const sizes = [
  ['minimum', 'maximum', ''],
  ['minLength', 'maxLength', ' characters'],
  ['minItems', 'maxItems', ' items'],
] as const;

function sizeWords(shape: JsonSchema): string {
  const parts = sizes.map(([least, most, unit]) => {
    const words = boundsWords(within(shape, least, most));
    return words && ` of ${words}${unit}`;
  });
  return parts.join('');
}

function within(shape: JsonSchema, least: string, most: string): Bounds {
  const [gte, lte] = [shape[least], shape[most]];
  const { exclusiveMinimum: gt, exclusiveMaximum: lt } = least === 'minimum' ? shape : {};
  const isPlausible = (value: unknown): value is number =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return {
    ...(isPlausible(gt) && { gt }),
    ...(isPlausible(gte) && { gte }),
    ...(isPlausible(lt) && { lt }),
    ...(isPlausible(lte) && { lte }),
  };
}
