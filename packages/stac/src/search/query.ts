import { isDoc, memberOf, type Doc } from '../json.js';

/** The operators of the query extension. */
const QUERY_OPERATORS = [
  'eq',
  'neq',
  'lt',
  'lte',
  'gt',
  'gte',
  'startsWith',
  'endsWith',
  'contains',
  'in',
] as const;

type Operator = (typeof QUERY_OPERATORS)[number];

const symbols: Partial<Record<Operator, string>> = {
  eq: '=',
  neq: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
};

/** Conditions one by one: `{ "eo:cloud_cover": { "lt": 10 } }`; a bare value means equality. */
function* conditionsIn(
  query: Doc,
): Generator<readonly [name: string, op: Operator, value: unknown]> {
  for (const [name, conditions] of Object.entries(query)) {
    if (!isDoc(conditions)) yield [name, 'eq', conditions];
    else {
      for (const [op, value] of Object.entries(conditions)) yield [name, op as Operator, value];
    }
  }
}

/** The first thing in a query that no server would understand. */
export function queryProblem(query: Doc): string | undefined {
  const known: readonly string[] = QUERY_OPERATORS;
  for (const [name, op, value] of conditionsIn(query)) {
    if (!known.includes(op)) return `${name}: "${op}" is no operator (${known.join(', ')})`;
    if (op === 'in' ? !Array.isArray(value) : isDoc(value) || Array.isArray(value)) {
      return `${name}: ${op} takes ${op === 'in' ? 'a list' : 'one value'}`;
    }
  }
  return undefined;
}

/** With equality spelt out, which is what the extension asks for. */
export function plainQuery(query: Doc): Doc {
  const entries = Object.entries(query).map(([name, conditions]) => [
    name,
    isDoc(conditions) ? conditions : { eq: conditions },
  ]);
  return Object.fromEntries(entries) as Doc;
}

/** The same conditions as a CQL2 filter, for servers that have replaced the one by the other. */
export function queryToCql2(query: Doc): Doc | undefined {
  const parts = [...conditionsIn(query)].map(([name, op, value]) => {
    const property = { property: name };
    const symbol = symbols[op];
    if (symbol !== undefined) return { op: symbol, args: [property, value] };
    if (op === 'in') return { op: 'in', args: [property, value] };
    return { op: 'like', args: [property, likePattern(op, String(value))] };
  });
  return parts.length > 1 ? { op: 'and', args: parts } : parts[0];
}

function likePattern(op: Operator, text: string): string {
  const literal = text.replaceAll(/[\\%_]/g, String.raw`\$&`);
  if (op === 'startsWith') return `${literal}%`;
  return op === 'endsWith' ? `%${literal}` : `%${literal}%`;
}

/** Whether an item meets all conditions, for catalogues that cannot be asked. */
export function meetsQuery(item: Doc, query: Doc): boolean {
  return [...conditionsIn(query)].every(([name, op, wanted]) =>
    meets(op, propertyOf(item, name), wanted),
  );
}

export function propertyOf(item: Doc, name: string): unknown {
  const bare = name.startsWith('properties.') ? name.slice('properties.'.length) : name;
  return memberOf(item['properties'], bare) ?? memberOf(item, bare);
}

function meets(op: Operator, value: unknown, wanted: unknown): boolean {
  if (op === 'neq') return value !== wanted;
  if (value === undefined || value === null) return false;
  if (op === 'eq') return value === wanted;
  if (op === 'in') return Array.isArray(wanted) && wanted.includes(value);
  const order = compare(value, wanted);
  if (op === 'lt') return order < 0;
  if (op === 'lte') return order <= 0;
  if (op === 'gt') return order > 0;
  if (op === 'gte') return order >= 0;
  if (typeof value !== 'string' || typeof wanted !== 'string') return false;
  const [text, part] = [value, wanted];
  if (op === 'startsWith') return text.startsWith(part);
  return op === 'endsWith' ? text.endsWith(part) : text.includes(part);
}

/** NaN for what cannot be compared, which is neither less nor greater. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string') return NaN;
  return a < b ? -1 : Number(a > b);
}
