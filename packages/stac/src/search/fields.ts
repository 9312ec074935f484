import { isObject, type JsonObject } from '@toolkeel/pack-kit';

export interface Fields {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** `id,-geometry`, a list of such strings, or the object of the fields extension. */
export type FieldsArgument =
  | string
  | readonly string[]
  | {
      readonly include?: readonly string[] | undefined;
      readonly exclude?: readonly string[] | undefined;
    };

export function parseFields(given: FieldsArgument): Fields;
export function parseFields(given: FieldsArgument | undefined): Fields | undefined;
export function parseFields(given: FieldsArgument | undefined): Fields | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'object' && !Array.isArray(given)) {
    const { include = [], exclude = [] } = given as Partial<Fields>;
    return { include, exclude };
  }
  const list = (typeof given === 'string' ? given.split(',') : (given as readonly string[]))
    .map((name) => name.trim())
    .filter((name) => name.replace(/^[+-]/, '') !== '');
  return {
    include: list.filter((name) => !name.startsWith('-')).map((name) => name.replace(/^\+/, '')),
    exclude: list.filter((name) => name.startsWith('-')).map((name) => name.slice(1)),
  };
}

/** Always requested, because results need them. */
const ESSENTIAL = ['id', 'collection', 'bbox', 'properties.datetime'] as const;

/** The fields for the request. Empty lists are omitted, because servers treat them differently. */
export function fieldsForServer({ include, exclude }: Fields): Partial<Fields> {
  const essential: readonly string[] = ESSENTIAL;
  const without = exclude.filter((name) => !essential.includes(name));
  return {
    ...(include.length > 0 && { include: [...new Set([...essential, ...include])] }),
    ...(without.length > 0 && { exclude: without }),
  };
}

/** The requested part of a document; always includes `id` and `collection`. */
export function project(doc: JsonObject, fields: Fields | undefined): JsonObject {
  if (!fields) return doc;
  const { include, exclude } = fields;
  const picked = include.length > 0 ? pick(doc, [...include, 'id', 'collection']) : doc;
  return exclude.length > 0 ? omit(picked, exclude) : picked;
}

function pick(doc: JsonObject, paths: readonly string[]): JsonObject {
  const entries = Object.entries(doc).flatMap(([key, value]) => {
    if (paths.includes(key)) return [[key, value] as const];
    const inner = pathsBelow(paths, key);
    return inner.length > 0 && isObject(value) ? [[key, pick(value, inner)] as const] : [];
  });
  return Object.fromEntries(entries);
}

function omit(doc: JsonObject, paths: readonly string[]): JsonObject {
  const entries = Object.entries(doc).flatMap(([key, value]) => {
    if (paths.includes(key)) return [];
    const inner = pathsBelow(paths, key);
    return [[key, inner.length > 0 && isObject(value) ? omit(value, inner) : value] as const];
  });
  return Object.fromEntries(entries);
}

/** The paths below a member. */
function pathsBelow(paths: readonly string[], key: string): readonly string[] {
  const prefix = `${key}.`;
  return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}
