import { isObject } from '../config/validate.js';
import { atPointer, saysSomething, typesOf, type JsonSchema } from '../paths/declared.js';
import type { Segment } from '../paths/path.js';

/** What is certain of an argument, whatever else its schema says. */
export interface Sure {
  /** Every value but null that can be there fits one of these; without any, nothing can be there. */
  readonly shapes: readonly JsonSchema[];
  /** Whether it is always given, and never null. */
  readonly isGiven: boolean;
}

/** Of more places rules do not tell anything. */
const MAX_ITEMS = 100_000;
const MAX_STEPS = 200;

/** Undefined where nothing is certain: where a schema is open, foreign, endless or not understood. */
export function sureAt(root: JsonSchema, segments: readonly Segment[]): Sure | undefined {
  let shapes = sureShapes(root, root);
  let isGiven = true;
  for (const [depth, segment] of segments.entries()) {
    if (!shapes) return undefined;
    const type = 'name' in segment ? 'object' : 'array';
    // Something else in its place would be unreadable, which is not the same as not there.
    if (depth > 0 && !shapes.every((shape) => isOnly(shape, type))) return undefined;
    isGiven &&= 'name' in segment && shapes.every((shape) => requires(shape, segment.name));
    if (depth > 0) isGiven &&= !shapes.some(mayBeNull);
    shapes = joined(shapes.map((shape) => membersOf(shape, segment, root)));
  }
  return shapes && { shapes, isGiven: isGiven && !shapes.some(mayBeNull) };
}

/** Schemas one of which any value fits that fits this one. Of several that all must hold, one is enough. */
export function sureShapes(schema: unknown, root: JsonSchema): readonly JsonSchema[] | undefined {
  return choicesIn(schema, root, { left: MAX_STEPS });
}

function choicesIn(
  schema: unknown,
  root: JsonSchema,
  steps: { left: number },
): readonly JsonSchema[] | undefined {
  if (schema === false) return [];
  if (!isObject(schema) || steps.left-- <= 0) return undefined;
  if (saysSomething(schema)) return [schema];
  const { $ref, anyOf, oneOf, allOf } = schema;
  const next = (one: unknown) => choicesIn(one, root, steps);
  if (typeof $ref === 'string') return next(atPointer(root, $ref));
  for (const choice of [anyOf, oneOf]) if (Array.isArray(choice)) return joined(choice.map(next));
  return Array.isArray(allOf) ? allOf.map(next).find((one) => one !== undefined) : undefined;
}

function membersOf(
  shape: JsonSchema,
  segment: Segment,
  root: JsonSchema,
): readonly JsonSchema[] | undefined {
  const { properties, patternProperties, additionalProperties } = shape;
  if ('name' in segment) {
    if (isObject(properties) && Object.hasOwn(properties, segment.name)) {
      return sureShapes(properties[segment.name], root);
    }
    return patternProperties === undefined && additionalProperties === false ? [] : undefined;
  }
  const { items, prefixItems, maxItems } = shape;
  const most = typeof maxItems === 'number' ? maxItems : Infinity;
  if ('index' in segment && segment.index >= most) return [];
  if ('each' in segment && most > MAX_ITEMS) return undefined;
  return prefixItems === undefined ? sureShapes(items, root) : undefined;
}

function joined(
  parts: readonly (readonly JsonSchema[] | undefined)[],
): readonly JsonSchema[] | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? known.flat() : undefined;
}

function isOnly(shape: JsonSchema, type: string): boolean {
  const types = typesOf([shape]);
  return types !== undefined && [...types].every((one) => one === type || one === 'null');
}

function requires({ required }: JsonSchema, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

function mayBeNull(shape: JsonSchema): boolean {
  const types = typesOf([shape]);
  // A listed null has the type of an object in JavaScript.
  const isListed = shape['type'] === undefined && types?.has('object');
  return !types || types.has('null') || isListed === true || shape['nullable'] === true;
}
