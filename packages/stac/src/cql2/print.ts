import { arrayOf, isObject, type JsonObject } from '@toolkeel/pack-kit';
import { FilterSyntaxError } from './lexer.js';
import { printWkt } from './wkt.js';

const MAX_DEPTH = 64;
const INFIX: ReadonlySet<string> = new Set('= <> < > <= >= + - * / % ^ div like'.split(' '));
const PLAIN_NAME = /^[\p{L}_:][\p{L}\p{N}_:.]*$/u;
const KEYWORD =
  /^(and|or|not|like|between|in|is|null|true|false|div|timestamp|date|interval|bbox|(multi)?(point|linestring|polygon)|geometrycollection)$/i;
const FUNCTION_NAME = /^[\p{L}_][\p{L}\p{N}_:.]*$/u;

/** Converts CQL2 JSON to CQL2 text. Throws a `FilterSyntaxError`. */
export function printCql2(filter: JsonObject): string {
  return print(filter, 0);
}

function print(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new FilterSyntaxError('nested too deeply');
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return list(value, depth);
  if (isObject(value)) return printDoc(value, depth + 1);
  throw new FilterSyntaxError(`${String(value)} is not a CQL2 value`);
}

function printDoc(doc: JsonObject, depth: number): string {
  const { op, property, timestamp, date, interval, bbox, type } = doc;
  if (typeof op === 'string') return printCall(op, arrayOf(doc['args']), depth);
  if (typeof property === 'string') return name(property);
  if (typeof timestamp === 'string') return `TIMESTAMP(${quoted(timestamp)})`;
  if (typeof date === 'string') return `DATE(${quoted(date)})`;
  if (Array.isArray(interval)) return `INTERVAL${list(interval, depth)}`;
  if (Array.isArray(bbox)) return `BBOX${list(bbox, depth)}`;
  if (typeof type === 'string') return printWkt(doc);
  throw new FilterSyntaxError(`{${Object.keys(doc).join(', ')}} is not a CQL2 expression`);
}

function printCall(op: string, args: readonly unknown[], depth: number): string {
  const inner = (value: unknown) => parenthesized(value, depth);
  const [first, second, third] = args;
  const lower = op.toLowerCase();
  const need = (count: number) => {
    if (args.length !== count) throw new FilterSyntaxError(`${op} takes ${count} arguments`);
  };
  if (lower === 'and' || lower === 'or') {
    if (args.length < 2) throw new FilterSyntaxError(`${op} takes at least 2 arguments`);
    return args.map(inner).join(` ${op.toUpperCase()} `);
  }
  if (lower === 'not') {
    need(1);
    return `NOT ${inner(first)}`;
  }
  if (lower === 'isnull') {
    need(1);
    return `${inner(first)} IS NULL`;
  }
  if (lower === 'between') {
    need(3);
    return `${inner(first)} BETWEEN ${inner(second)} AND ${inner(third)}`;
  }
  if (lower === 'in') {
    need(2);
    return `${inner(first)} IN ${list(arrayOf(second), depth)}`;
  }
  if (INFIX.has(lower)) {
    need(2);
    return `${inner(first)} ${op.toUpperCase()} ${inner(second)}`;
  }
  if (!FUNCTION_NAME.test(op) || KEYWORD.test(op))
    throw new FilterSyntaxError(`"${op}" is not an operator`);
  return `${/^[sta]_/i.test(op) ? op.toUpperCase() : op}${list(args, depth)}`;
}

/** Parenthesises nested operators, so that precedence does not matter. */
function parenthesized(value: unknown, depth: number): string {
  const text = print(value, depth);
  const op = isObject(value) && typeof value['op'] === 'string' ? value['op'].toLowerCase() : '';
  const isOperator = INFIX.has(op) || ['and', 'or', 'not', 'isnull', 'between', 'in'].includes(op);
  return isOperator ? `(${text})` : text;
}

function list(values: readonly unknown[], depth: number): string {
  return `(${values.map((value) => print(value, depth)).join(', ')})`;
}

function name(property: string): string {
  const plain = PLAIN_NAME.test(property) && !KEYWORD.test(property);
  return plain ? property : `"${property.replaceAll('"', '""')}"`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
