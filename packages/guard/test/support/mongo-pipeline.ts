import { BSON } from 'bson';
import type { Document } from './mongo-wire.js';

export const isWriteStage = (stage: Document): boolean => '$out' in stage || '$merge' in stage;

export const same = (one: unknown, other: unknown): boolean =>
  BSON.EJSON.stringify({ one }) === BSON.EJSON.stringify({ one: other });

/** Equality is the only filter. */
export const matches = (doc: Document, filter: Document): boolean =>
  Object.entries(filter).every(([field, value]) => same(doc[field], value));

const copyOf = (doc: Document): Document => BSON.deserialize(BSON.serialize(doc));

/** The stages that the server adds, and a few for the test. `$$new` is the other document of a merge. */
export function aggregated(
  from: readonly Document[],
  pipeline: readonly Document[],
  other: Document = {},
): Document[] {
  let docs = from.map(copyOf);
  for (const stage of pipeline) {
    const [[operator, given]] = Object.entries(stage) as [[string, Document]];
    switch (operator) {
      case '$match':
        docs = docs.filter((doc) => matches(doc, given));
        break;
      case '$limit':
        docs = docs.slice(0, Number(given));
        break;
      case '$sample':
        docs = docs.slice(0, Number(given['size']));
        break;
      case '$count':
        docs = docs.length > 0 ? [{ [given as unknown as string]: docs.length }] : [];
        break;
      case '$documents':
        docs = (given as unknown as Document[]).map(copyOf);
        break;
      case '$collStats':
        docs = [{ storageStats: { size: docs.length * 100 } }];
        break;
      case '$group':
        docs = docs.length > 0 ? [grouped(docs, given)] : [];
        break;
      case '$set':
        docs = docs.map((doc) => ({ ...doc, ...computed(given, doc, other) }));
        break;
      default:
        throw new Error(`no support for ${operator}`);
    }
  }
  return docs;
}

/** `{ $group: { _id, n: { $sum: 1 } } }`: all documents are one group. */
function grouped(docs: readonly Document[], { _id, ...sums }: Document): Document {
  const result: Document = { _id };
  for (const [name, sum] of Object.entries(sums as Record<string, { $sum: unknown }>)) {
    result[name] = docs.reduce((total, doc) => total + Number(valueOf(sum.$sum, doc)), 0);
  }
  return result;
}

/** `{ n: { $add: ['$n', 1] } }`, or values. */
function computed(changes: Document, doc: Document, other: Document): Document {
  const result: Document = {};
  for (const [name, change] of Object.entries(changes)) {
    const { $add: terms } = Object(change) as { $add?: readonly unknown[] };
    result[name] = terms
      ? terms.reduce<number>((sum, term) => sum + Number(valueOf(term, doc, other)), 0)
      : change;
  }
  return result;
}

function valueOf(expression: unknown, doc: Document, other: Document = {}): unknown {
  if (typeof expression !== 'string') return expression;
  const [root, path] = expression.startsWith('$$new.')
    ? [other, expression.slice('$$new.'.length)]
    : [doc, expression.slice(1)];
  return path.split('.').reduce<unknown>((value, name) => (value as Document)[name], root);
}
