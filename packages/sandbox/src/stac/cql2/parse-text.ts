import type { Json } from '../../json.js';
import { badParameter } from '../api/problem.js';
import { readerOf, type Reader } from './reader.js';
import { isGeometryWord, readGeometry } from './wkt.js';

const MAX_DEPTH = 40;
const COMPARISONS = ['=', '<>', '<', '<=', '>', '>='];
const FUNCTION = /^[ST]_[A-Z]+$/i;

/** CQL2 text as CQL2 JSON, which is what is evaluated. */
export function parseText(text: string): Json {
  const reader = readerOf(text);
  const parsed = disjunction(reader, 0);
  if (reader.peek().kind !== 'end') throw reader.unexpected();
  return parsed;
}

function disjunction(reader: Reader, depth: number): Json {
  if (depth > MAX_DEPTH) throw badParameter('filter', 'is nested too deeply');
  const args = [conjunction(reader, depth)];
  while (reader.takes('OR')) args.push(conjunction(reader, depth));
  return args.length > 1 ? { op: 'or', args } : (args[0] ?? null);
}

function conjunction(reader: Reader, depth: number): Json {
  const args = [negation(reader, depth)];
  while (reader.takes('AND')) args.push(negation(reader, depth));
  return args.length > 1 ? { op: 'and', args } : (args[0] ?? null);
}

function negation(reader: Reader, depth: number): Json {
  if (depth > MAX_DEPTH) throw badParameter('filter', 'is nested too deeply');
  if (reader.takes('NOT')) return not(negation(reader, depth + 1));
  if (!reader.takes('(')) return predicate(reader);
  const inner = disjunction(reader, depth + 1);
  reader.expect(')');
  return inner;
}

const not = (inner: Json): Json => ({ op: 'not', args: [inner] });

function predicate(reader: Reader): Json {
  const { kind, text } = reader.peek();
  if (kind === 'name' && FUNCTION.test(text) && reader.peek(1).text === '(') {
    reader.next();
    return { op: text.toLowerCase(), args: argumentsOf(reader) };
  }
  const left = operand(reader);
  const sign = COMPARISONS.find((comparison) => reader.takes(comparison));
  if (sign) return { op: sign, args: [left, operand(reader)] };
  if (reader.takes('IS')) {
    const negated = reader.takes('NOT');
    reader.expect('NULL');
    return negated ? not({ op: 'isNull', args: [left] }) : { op: 'isNull', args: [left] };
  }
  const negated = reader.takes('NOT');
  const found = membership(reader, left);
  if (found === undefined) {
    if (!negated && typeof left === 'boolean') return left;
    throw reader.unexpected();
  }
  return negated ? not(found) : found;
}

function membership(reader: Reader, left: Json): Json | undefined {
  if (reader.takes('LIKE')) return { op: 'like', args: [left, operand(reader)] };
  if (reader.takes('IN')) return { op: 'in', args: [left, argumentsOf(reader)] };
  if (!reader.takes('BETWEEN')) return undefined;
  const low = operand(reader);
  reader.expect('AND');
  return { op: 'between', args: [left, low, operand(reader)] };
}

function argumentsOf(reader: Reader): Json[] {
  reader.expect('(');
  const args = [operand(reader)];
  while (reader.takes(',')) args.push(operand(reader));
  reader.expect(')');
  return args;
}

function operand(reader: Reader): Json {
  const { kind, text } = reader.peek();
  if (kind === 'end' || kind === 'sign') throw reader.unexpected();
  const called = kind === 'name' && reader.peek(1).text === '(';
  if (called && isGeometryWord(text)) return readGeometry(reader);
  reader.next();
  if (kind === 'number') return Number(text);
  if (kind === 'string') return text;
  if (called) return literalOrFunction(reader, text.toUpperCase());
  if (kind === 'name' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return { property: text };
}

function literalOrFunction(reader: Reader, word: string): Json {
  const args = argumentsOf(reader);
  const [first = null] = args;
  if (word === 'TIMESTAMP') return { timestamp: first };
  if (word === 'DATE') return { date: first };
  if (word === 'INTERVAL') return { interval: args };
  if (word === 'CASEI') return { op: 'casei', args };
  throw badParameter('filter', `"${word}" is not a function here`);
}
