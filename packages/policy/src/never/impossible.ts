import type { Bounds, Operators, Scalar } from '../config/types.js';
import { isEmptyRange } from '../condition/compare.js';
import { operators as table } from '../condition/operators.js';
import type { Truth } from '../condition/truth.js';
import { listedValues, typesOf, type JsonSchema } from '../paths/declared.js';
import { MAX_TEXT } from '../text/fold.js';
import { mayFitText } from './fits-text.js';
import { sureShapes } from './sure-shapes.js';
import { hasNoWhole, wholeWithin } from './whole-numbers.js';

/** What is asked of one value, all of it. */
export interface Question {
  readonly asked: readonly Operators[];
  readonly test: (value: unknown) => Truth;
}

/** So many whole numbers are tried one by one. */
const MAX_TRIED = 1000;

/** Whether no value of this shape is as asked: not even one of which it cannot be told. */
export function isImpossible(shape: JsonSchema, question: Question, root: JsonSchema): boolean {
  const { test } = question;
  const listed = listedValues(shape);
  // Null counts as not given.
  if (listed) return listed.every((value) => value === null || test(value) === 'no');
  const types = typesOf([shape]);
  return (
    types !== undefined && [...types].every((type) => isImpossibleOf[type]?.(shape, question, root))
  );
}

type Impossible = (shape: JsonSchema, question: Question, root: JsonSchema) => boolean;

const isImpossibleOf: Readonly<Record<string, Impossible>> = {
  null: () => true,
  boolean: (_, { test }) => [true, false].every((value) => test(value) === 'no'),
  number: noNumber,
  string: noText,
  array: noList,
  // No object is the same as a plain value; what else is asked of one cannot be told.
  object: (_, { asked }) => wantedBy(asked) !== undefined,
};

function noNumber(shape: JsonSchema, { asked, test }: Question): boolean {
  const bounds = boundsOf(shape);
  const isWhole = [shape['type']].flat().every((type) => type !== 'number');
  const fits = (value: number): boolean =>
    !isEmptyRange([bounds, { gte: value, lte: value }]) && (!isWhole || Number.isInteger(value));
  const wanted = wantedBy(asked);
  if (wanted) {
    // `5` and `"5"` may be meant to be the same.
    const numbers = wanted.map(Number).filter((value, at) => String(value) === String(wanted[at]));
    return numbers.every((value) => !fits(value) || test(value) === 'no');
  }
  if (isEmptyRange([bounds, ...asked])) return true;
  if (!isWhole) return false;
  const [low, high] = wholeWithin([bounds, ...asked]);
  // Beyond these, adding one may change nothing.
  if (![low, high].every(Number.isSafeInteger) || high - low >= MAX_TRIED) return false;
  for (let value = low; value <= high; value++) if (test(value) !== 'no') return false;
  return true;
}

function noText(shape: JsonSchema, { asked, test }: Question): boolean {
  const wanted = wantedBy(asked)?.map(String);
  if (wanted) return wanted.every((text) => !mayFitText(text, shape) || test(text) === 'no');
  const { minLength, maxLength } = shape;
  if (typeof maxLength !== 'number' || !isShort(maxLength)) return false;
  // A schema that counts halves of characters lets half as many pass.
  const least = typeof minLength === 'number' ? Math.ceil(minLength / 2) : 0;
  return noLength(asked, { gte: least, lte: maxLength });
}

function noList(shape: JsonSchema, { asked }: Question, root: JsonSchema): boolean {
  if (wantedBy(asked)) return true;
  const { minItems, maxItems, items, prefixItems } = shape;
  const lengths = { gte: numberOr(minItems, 0), lte: numberOr(maxItems, Infinity) };
  if (noLength(asked, lengths)) return true;
  const kinds = prefixItems === undefined ? sureShapes(items, root) : undefined;
  const all = kinds?.map(listedValues);
  if (!all || all.includes(undefined)) return false;
  return asked.some(({ contains }) => {
    const test = contains === undefined ? undefined : table.contains.test(contains);
    return test && all.flat().every((item) => test([item]) === 'no');
  });
}

const noLength = (asked: readonly Operators[], own: Bounds): boolean =>
  asked.some(({ length }) => length) &&
  hasNoWhole([own, ...asked.map(({ length = {} }) => length)]);

/** Texts that are too long are not looked into. */
export const isShort = (maxLength: number): boolean => maxLength * 2 <= MAX_TEXT;

/** The values of which it must be one. */
function wantedBy(asked: readonly Operators[]): readonly Scalar[] | undefined {
  const lists = asked.map(({ equals, in: list }) => (equals === undefined ? list : [equals]));
  return lists.find((list) => list !== undefined);
}

function boundsOf(shape: JsonSchema): Bounds {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = shape;
  return {
    gte: numberOr(minimum, -Infinity),
    lte: numberOr(maximum, Infinity),
    gt: numberOr(exclusiveMinimum, -Infinity),
    lt: numberOr(exclusiveMaximum, Infinity),
  };
}

const numberOr = (value: unknown, other: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : other;
