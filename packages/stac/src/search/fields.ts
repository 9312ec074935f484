import { isDoc, type Doc } from '../json.js';

export interface Fields {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** `id,-geometry`, a list of such, or the object of the extension. */
export type FieldsArgument =
  | string
  | readonly string[]
  | {
      readonly include?: readonly string[] | undefined;
      readonly exclude?: readonly string[] | undefined;
    };

export function readFields(given: FieldsArgument): Fields;
export function readFields(given: FieldsArgument | undefined): Fields | undefined;
export function readFields(given: FieldsArgument | undefined): Fields | undefined {
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

/** Asked of every server, because without them an item cannot be told from another. */
const ESSENTIAL = ['id', 'collection', 'bbox', 'properties.datetime'] as const;

/**
 * What goes to the server: never less than what an answer needs. An empty list would not mean the
 * same as none, so there is none.
 */
export function fieldsForServer({ include, exclude }: Fields): Partial<Fields> {
  const essential: readonly string[] = ESSENTIAL;
  const without = exclude.filter((name) => !essential.includes(name));
  return {
    ...(include.length > 0 && { include: [...new Set([...essential, ...include])] }),
    ...(without.length > 0 && { exclude: without }),
  };
}

/** The part of a document that was asked for; `id` is always a part of it. */
export function project(doc: Doc, fields: Fields | undefined): Doc {
  if (!fields) return doc;
  const { include, exclude } = fields;
  const picked = include.length > 0 ? pick(doc, [...include, 'id', 'collection']) : doc;
  return exclude.length > 0 ? omit(picked, exclude) : picked;
}

function pick(doc: Doc, paths: readonly string[]): Doc {
  const entries = Object.entries(doc).flatMap(([key, value]) => {
    if (paths.includes(key)) return [[key, value] as const];
    const inner = below(paths, key);
    return inner.length > 0 && isDoc(value) ? [[key, pick(value, inner)] as const] : [];
  });
  return Object.fromEntries(entries);
}

function omit(doc: Doc, paths: readonly string[]): Doc {
  const entries = Object.entries(doc).flatMap(([key, value]) => {
    if (paths.includes(key)) return [];
    const inner = below(paths, key);
    return [[key, inner.length > 0 && isDoc(value) ? omit(value, inner) : value] as const];
  });
  return Object.fromEntries(entries);
}

/** What the paths say about the members of one member. */
function below(paths: readonly string[], key: string): readonly string[] {
  const prefix = `${key}.`;
  return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}
