import { isObject, memberOf, type JsonObject } from '@toolkeel/pack-kit';

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

/** Iterates conditions such as `{ "eo:cloud_cover": { "lt": 10 } }`; a bare value means equality. */
function* conditionsIn(
  query: JsonObject,
): Generator<readonly [name: string, op: Operator, value: unknown]> {
  for (const [name, conditions] of Object.entries(query)) {
    if (!isObject(conditions)) yield [name, 'eq', conditions];
    else {
      for (const [op, value] of Object.entries(conditions)) yield [name, op as Operator, value];
    }
  }
}

/** The first problem of a query; undefined if it is valid. */
export function validateQuery(query: JsonObject): string | undefined {
  const known: readonly string[] = QUERY_OPERATORS;
  for (const [name, op, value] of conditionsIn(query)) {
    if (!known.includes(op)) return `${name}: "${op}" is not an operator (${known.join(', ')})`;
    if (op === 'in' ? !Array.isArray(value) : isObject(value) || Array.isArray(value)) {
      return `${name}: ${op} takes ${op === 'in' ? 'a list' : 'one value'}`;
    }
  }
  return undefined;
}

/** Replaces bare values by `eq`, as the query extension requires. */
export function normalizeQuery(query: JsonObject): JsonObject {
  const entries = Object.entries(query).map(([name, conditions]) => [
    name,
    isObject(conditions) ? conditions : { eq: conditions },
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

/** Converts a query to a CQL2 filter, for servers that only support filters. */
export function queryToCql2(query: JsonObject): JsonObject | undefined {
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

/** Evaluates a query locally. */
export function matchesQuery(item: JsonObject, query: JsonObject): boolean {
  return [...conditionsIn(query)].every(([name, op, wanted]) =>
    matchesCondition(op, propertyOf(item, name), wanted),
  );
}

export function propertyOf(item: JsonObject, name: string): unknown {
  const bare = name.startsWith('properties.') ? name.slice('properties.'.length) : name;
  return memberOf(item['properties'], bare) ?? memberOf(item, bare);
}

function matchesCondition(op: Operator, value: unknown, wanted: unknown): boolean {
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

/** NaN for values that cannot be compared. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string') return NaN;
  return a < b ? -1 : Number(a > b);
}
