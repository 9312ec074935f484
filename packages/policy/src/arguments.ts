import type { Scalar } from './config.js';

/** A property, an array index, or every item of an array. */
export type Segment =
  | { readonly name: string }
  | { readonly index: number }
  | { readonly each: true };

/** Parses a path that the schema has accepted: `args.media[*].id`, `args["a name"][0]`. */
export function parsePath(text: string): readonly Segment[] {
  const parts = text.slice('args'.length).matchAll(/\.([^.[]+)|\["([^"]+)"\]|\[(\*|\d+)\]/g);
  return [...parts].map(([, plain, quoted, place]): Segment => {
    if (place === '*') return { each: true };
    return place === undefined ? { name: plain ?? quoted ?? '' } : { index: Number(place) };
  });
}

/** The canonical spelling of a path. */
export function formatPath(segments: readonly Segment[]): string {
  return `args${segments.map(formatSegment).join('')}`;
}

function formatSegment(segment: Segment): string {
  if ('each' in segment) return '[*]';
  if ('index' in segment) return `[${segment.index}]`;
  const { name } = segment;
  return /^[A-Za-z_$][\w$-]*$/.test(name) ? `.${name}` : `["${name}"]`;
}

export interface ArgumentValues {
  /** Null counts as not given. */
  readonly values: readonly unknown[];
  /** A value on the path has another type, such as a string where an array is expected. */
  readonly unreadable: boolean;
}

/** Bounds the time: no real call lists more. */
const MAX_VALUES = 100_000;

/** The values at a path. Reads own properties only, so that a prototype supplies none. */
export function readPath(args: unknown, segments: readonly Segment[]): ArgumentValues {
  let values: readonly unknown[] = [args];
  let unreadable = false;
  for (const segment of segments) {
    const next: unknown[] = [];
    for (const value of values) {
      const members = readSegment(value, segment);
      if (!members || next.length + members.length > MAX_VALUES) unreadable = true;
      else for (const member of members) if (member != null) next.push(member);
    }
    values = next;
  }
  return { values, unreadable };
}

/** Undefined for a value of another type than the segment expects. */
function readSegment(value: unknown, segment: Segment): readonly unknown[] | undefined {
  if ('name' in segment) {
    if (!isObject(value)) return undefined;
    return Object.hasOwn(value, segment.name) ? [value[segment.name]] : [];
  }
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  return 'each' in segment ? items : items.slice(segment.index, segment.index + 1);
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The declaration of an argument in a tool's schema. */
export interface Declaration {
  /** JSON types, `integer` as `number`; undefined if the schema allows any type. */
  readonly types: ReadonlySet<string> | undefined;
  /** All allowed values, if the schema lists them. */
  readonly values: readonly Scalar[] | undefined;
}

const anything: JsonSchema = {};
// Schemas of guarded servers may be circular or maliciously large.
const MAX_SCHEMAS = 200;
const MAX_PATHS = 300;
const MAX_DEPTH = 5;

/**
 * The declaration at a path; undefined if the schema declares no such argument. A name that only
 * `additionalProperties: true` would accept is not declared: it may be a typo.
 */
export function declarationAt(
  root: JsonSchema,
  segments: readonly Segment[],
): Declaration | undefined {
  let schemas = expand(root, root);
  for (const segment of segments) schemas = membersOf(schemas, segment, root);
  return schemas.length === 0 ? undefined : { types: typesOf(schemas), values: valuesOf(schemas) };
}

/** The paths that a schema declares, for suggestions. */
export function declaredPaths(root: JsonSchema): string[] {
  const found = new Set<string>();
  const walk = (schemas: readonly JsonSchema[], path: readonly Segment[]): void => {
    if (path.length > 0) found.add(formatPath(path));
    if (path.length >= MAX_DEPTH) return;
    const names = schemas.flatMap(({ properties }) => Object.keys(record(properties)));
    const isArray = schemas.some(
      ({ items, prefixItems }) => Boolean(items) || Boolean(prefixItems),
    );
    const next: Segment[] = [...new Set(names)].map((name) => ({ name }));
    for (const segment of isArray ? [...next, { each: true } as const] : next) {
      if (found.size >= MAX_PATHS) return;
      walk(membersOf(schemas, segment, root), [...path, segment]);
    }
  };
  walk(expand(root, root), []);
  return [...found];
}

/** A schema with the schemas that it references or combines. */
function expand(schema: unknown, root: JsonSchema): JsonSchema[] {
  const schemas = new Set<JsonSchema>();
  const visit = (given: unknown): void => {
    if (given === true) schemas.add(anything);
    if (!isObject(given) || schemas.has(given) || schemas.size >= MAX_SCHEMAS) return;
    schemas.add(given);
    const { $ref, anyOf, oneOf, allOf } = given;
    if (typeof $ref === 'string') visit(resolvePointer(root, $ref));
    for (const branch of [anyOf, oneOf, allOf].flatMap(list)) visit(branch);
  };
  visit(schema);
  // A schema that only references or combines others declares nothing by itself.
  const declaring = [...schemas].filter((given) => given === anything || declares(given));
  return declaring.length > 0 || schemas.size === 0 ? declaring : [anything];
}

const combinators = new Set(['$ref', 'anyOf', 'oneOf', 'allOf']);
const annotations = new Set(['$schema', '$defs', 'definitions', 'title', 'description', 'default']);

function declares(schema: JsonSchema): boolean {
  const keys = Object.keys(schema).filter((key) => !annotations.has(key));
  return keys.length === 0 || keys.some((key) => !combinators.has(key));
}

function resolvePointer(root: JsonSchema, ref: string): unknown {
  if (!ref.startsWith('#')) return anything;
  let at: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at ?? anything;
}

function membersOf(
  schemas: readonly JsonSchema[],
  segment: Segment,
  root: JsonSchema,
): JsonSchema[] {
  const members = new Set(schemas.flatMap((schema) => memberOf(schema, segment, root)));
  return [...members].slice(0, MAX_SCHEMAS);
}

function memberOf(schema: JsonSchema, segment: Segment, root: JsonSchema): JsonSchema[] {
  const expanded = (member: unknown): JsonSchema[] => expand(member, root);
  if ('name' in segment) {
    if (!allows(schema, 'object')) return [];
    const { properties, patternProperties, additionalProperties } = schema;
    const known = record(properties);
    if (Object.hasOwn(known, segment.name)) return expanded(known[segment.name]);
    // Their patterns are not evaluated: a hostile one could take exponential time.
    if (patternProperties !== undefined) return [anything];
    if (additionalProperties !== undefined) return expanded(additionalProperties);
    return properties === undefined && !restrictsMembers(schema) ? [anything] : [];
  }
  if (!allows(schema, 'array')) return [];
  const { items, prefixItems } = schema;
  const first = list(prefixItems);
  if ('index' in segment && segment.index < first.length) return expanded(first[segment.index]);
  const rest = items === undefined ? (first.length > 0 ? [] : [anything]) : expanded(items);
  return 'each' in segment ? [...first.flatMap(expanded), ...rest] : rest;
}

function restrictsMembers({ required, enum: choices, const: only }: JsonSchema): boolean {
  return [required, choices, only].some((part) => part !== undefined);
}

function allows(schema: JsonSchema, type: string): boolean {
  const types = typesOf([schema]);
  return types === undefined || types.has(type);
}

function typesOf(schemas: readonly JsonSchema[]): ReadonlySet<string> | undefined {
  const each = schemas.map((schema): readonly string[] | undefined => {
    if (schema['type'] !== undefined)
      return [schema['type']].flat().filter((type) => typeof type === 'string');
    return listedValues(schema)?.map((value) => typeof value);
  });
  const known = each.filter((types) => types !== undefined).flat();
  if (each.some((types) => types === undefined)) return undefined;
  return new Set(known.map((type) => (type === 'integer' ? 'number' : type)));
}

function valuesOf(schemas: readonly JsonSchema[]): readonly Scalar[] | undefined {
  const each = schemas.map((schema) => (schema['type'] === 'null' ? [] : listedValues(schema)));
  if (each.some((values) => values === undefined)) return undefined;
  return each.flatMap((values) => values ?? []).filter(isScalar);
}

function listedValues(schema: JsonSchema): readonly unknown[] | undefined {
  if (schema['const'] !== undefined) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}

const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (value: unknown): JsonSchema => (isObject(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
