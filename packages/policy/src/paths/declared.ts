import { isObject } from '../config/validate.js';
import type { Scalar } from '../config/types.js';
import { pathText, type Segment } from './path.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a tool's schema says of an argument. */
export interface Declared {
  /** Types of JSON, `integer` being a number; undefined if anything may be there. */
  readonly types: ReadonlySet<string> | undefined;
  /** All values that there are, where the schema lists them. */
  readonly values: readonly Scalar[] | undefined;
}

/** A shape that anything fits. */
const anything: JsonSchema = {};
// Schemas of other people's servers may be circular, or made to be endless.
const MAX_SHAPES = 200;
const MAX_PATHS = 300;
const MAX_DEPTH = 5;

/**
 * What a schema declares at a path; undefined if it knows no such argument. Only names that are
 * written down are known: a schema that would let any other name pass does not make a slip a name.
 */
export function declaredAt(root: JsonSchema, segments: readonly Segment[]): Declared | undefined {
  let shapes = shapesOf(root, root);
  for (const segment of segments) shapes = allMembersAt(shapes, segment, root);
  return shapes.length === 0 ? undefined : { types: typesOf(shapes), values: valuesOf(shapes) };
}

/** The paths that a schema declares, for suggestions. */
export function declaredPaths(root: JsonSchema): string[] {
  const found = new Set<string>();
  const walk = (shapes: readonly JsonSchema[], path: readonly Segment[]): void => {
    if (path.length > 0) found.add(pathText(path));
    if (path.length >= MAX_DEPTH) return;
    const names = shapes.flatMap(({ properties }) => Object.keys(record(properties)));
    const isList = shapes.some(({ items, prefixItems }) => Boolean(items) || Boolean(prefixItems));
    const next: Segment[] = [...new Set(names)].map((name) => ({ name }));
    for (const segment of isList ? [...next, { each: true } as const] : next) {
      if (found.size >= MAX_PATHS) return;
      walk(allMembersAt(shapes, segment, root), [...path, segment]);
    }
  };
  walk(shapesOf(root, root), []);
  return [...found];
}

/** A schema and all that it refers to or chooses between. */
function shapesOf(schema: unknown, root: JsonSchema): JsonSchema[] {
  const shapes = new Set<JsonSchema>();
  const visit = (one: unknown): void => {
    if (one === true) shapes.add(anything);
    if (!isObject(one) || shapes.has(one) || shapes.size >= MAX_SHAPES) return;
    shapes.add(one);
    const { $ref, anyOf, oneOf, allOf } = one;
    if (typeof $ref === 'string') visit(atPointer(root, $ref));
    for (const branch of [anyOf, oneOf, allOf].flatMap(list)) visit(branch);
  };
  visit(schema);
  // What only chooses between others or refers to them declares nothing by itself.
  const speaking = [...shapes].filter((one) => one === anything || saysSomething(one));
  return speaking.length > 0 || shapes.size === 0 ? speaking : [anything];
}

const choosing = new Set(['$ref', 'anyOf', 'oneOf', 'allOf']);
const silent = new Set(['$schema', '$defs', 'definitions', 'title', 'description', 'default']);

export function saysSomething(schema: JsonSchema): boolean {
  const keys = Object.keys(schema).filter((key) => !silent.has(key));
  return keys.length === 0 || keys.some((key) => !choosing.has(key));
}

export function atPointer(root: JsonSchema, ref: string): unknown {
  if (!ref.startsWith('#')) return anything;
  let at: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at ?? anything;
}

function allMembersAt(
  shapes: readonly JsonSchema[],
  segment: Segment,
  root: JsonSchema,
): JsonSchema[] {
  const found = new Set<JsonSchema>();
  for (const shape of shapes) {
    for (const member of membersAt(shape, segment, root)) {
      if (found.size < MAX_SHAPES) found.add(member);
    }
  }
  return [...found];
}

function membersAt(shape: JsonSchema, segment: Segment, root: JsonSchema): JsonSchema[] {
  const within = (schema: unknown): JsonSchema[] => shapesOf(schema, root);
  if ('name' in segment) {
    if (!mayBe(shape, 'object')) return [];
    const { properties, patternProperties, additionalProperties } = shape;
    const known = record(properties);
    if (Object.hasOwn(known, segment.name)) return within(known[segment.name]);
    // Not matched against their patterns: those are not ours, and could take for ever.
    if (patternProperties !== undefined) return [anything];
    if (additionalProperties !== undefined) return within(additionalProperties);
    return properties === undefined && !declaresOthers(shape) ? [anything] : [];
  }
  if (!mayBe(shape, 'array')) return [];
  const { items, prefixItems } = shape;
  const first = list(prefixItems);
  if ('index' in segment && segment.index < first.length) return within(first[segment.index]);
  const rest = items === undefined ? (first.length > 0 ? [] : [anything]) : within(items);
  return 'each' in segment ? [...first.flatMap(within), ...rest] : rest;
}

/** Whether it is about something else than members: then it does not leave them open either. */
function declaresOthers({ required, enum: choices, const: only }: JsonSchema): boolean {
  return [required, choices, only].some((part) => part !== undefined);
}

function mayBe(shape: JsonSchema, type: string): boolean {
  const types = typesOf([shape]);
  return types === undefined || types.has(type);
}

export function typesOf(shapes: readonly JsonSchema[]): ReadonlySet<string> | undefined {
  const each = shapes.map((shape): readonly string[] | undefined => {
    if (shape['type'] !== undefined)
      return [shape['type']].flat().filter((one) => typeof one === 'string');
    return listedValues(shape)?.map((value) => typeof value);
  });
  const known = each.filter((types) => types !== undefined).flat();
  if (each.some((types) => types === undefined)) return undefined;
  return new Set(known.map((type) => (type === 'integer' ? 'number' : type)));
}

function valuesOf(shapes: readonly JsonSchema[]): readonly Scalar[] | undefined {
  const each = shapes.map((shape) => (shape['type'] === 'null' ? [] : listedValues(shape)));
  if (each.some((values) => values === undefined)) return undefined;
  return each.flatMap((values) => values ?? []).filter(isScalar);
}

export function listedValues(shape: JsonSchema): readonly unknown[] | undefined {
  if (shape['const'] !== undefined) return [shape['const']];
  return Array.isArray(shape['enum']) ? shape['enum'] : undefined;
}

export const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value);
const record = (value: unknown): JsonSchema => (isObject(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
