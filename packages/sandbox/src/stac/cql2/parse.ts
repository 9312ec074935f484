import type { Json } from '../../json.js';
import { badParameter, type Problem } from '../api/http.js';

const MAX_DEPTH = 40;
const COMPARISONS = ['=', '<>', '<', '<=', '>', '>='];
const FUNCTION = /^[ST]_[A-Z]+$/i;

/** Converts CQL2 text to CQL2 JSON. */
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

/** A cursor over tokens, for a recursive-descent parser. */
interface Reader {
  readonly peek: (ahead?: number) => Token;
  readonly next: () => Token;
  /** Consumes the keyword or sign if it is next. */
  readonly takes: (text: string) => boolean;
  readonly expect: (text: string) => void;
  readonly unexpected: () => Problem;
}

function readerOf(text: string): Reader {
  const tokens = tokensOf(text);
  const end: Token = { kind: 'end', text: '' };
  let at = 0;
  const peek = (ahead = 0): Token => tokens[at + ahead] ?? end;
  const is = ({ kind, text: found }: Token, wanted: string): boolean =>
    (kind === 'sign' && found === wanted) ||
    (kind === 'name' && found.toUpperCase() === wanted.toUpperCase());
  const takes = (wanted: string): boolean => {
    const found = is(peek(), wanted);
    if (found) at += 1;
    return found;
  };
  const unexpected = (): Problem => {
    const { kind, text: found } = peek();
    return badParameter('filter', kind === 'end' ? 'ends too early' : `"${found}" is unexpected`);
  };
  return {
    peek,
    takes,
    unexpected,
    next: () => {
      const token = peek();
      at += 1;
      return token;
    },
    expect: (wanted) => {
      if (!takes(wanted)) throw unexpected();
    },
  };
}

interface Token {
  readonly kind: 'name' | 'quoted' | 'string' | 'number' | 'sign' | 'end';
  readonly text: string;
}

// Names may contain colons and dots; quotes in strings are doubled.
const PATTERN =
  /\s*(?:(?<name>[A-Za-z_:\u0080-\uffff][\w:.\u0080-\uffff]*)|"(?<quoted>[^"]+)"|'(?<string>(?:[^']|'')*)'|(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<sign><=|>=|<>|[=<>(),]))/y;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const source = text.trimEnd();
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < source.length) {
    const from = PATTERN.lastIndex;
    const match = PATTERN.exec(source);
    if (!match?.groups)
      throw badParameter('filter', `cannot be read at "${source.slice(from, from + 20)}"`);
    tokens.push(tokenFrom(match.groups));
  }
  return [...tokens, { kind: 'end', text: '' }];
}

function tokenFrom(groups: Readonly<Record<string, string | undefined>>): Token {
  for (const kind of ['name', 'quoted', 'number', 'sign'] as const) {
    const text = groups[kind];
    if (text !== undefined) return { kind, text };
  }
  return { kind: 'string', text: (groups['string'] ?? '').replaceAll("''", "'") };
}

const NESTING: Readonly<Record<string, readonly [type: string, depth: number]>> = {
  POINT: ['Point', 0],
  LINESTRING: ['LineString', 1],
  POLYGON: ['Polygon', 2],
  MULTIPOINT: ['MultiPoint', 1],
  MULTILINESTRING: ['MultiLineString', 2],
  MULTIPOLYGON: ['MultiPolygon', 3],
};

function isGeometryWord(word: string): boolean {
  const upper = word.toUpperCase();
  return upper === 'BBOX' || upper === 'GEOMETRYCOLLECTION' || Object.hasOwn(NESTING, upper);
}

/** Parses well-known text or BBOX(…) into CQL2 JSON. */
function readGeometry(reader: Reader): Json {
  const word = reader.next().text.toUpperCase();
  if (word === 'BBOX') return { bbox: listOf(reader, () => numberFrom(reader)) };
  if (word === 'GEOMETRYCOLLECTION')
    return { type: 'GeometryCollection', geometries: listOf(reader, () => readGeometry(reader)) };
  const [type, depth] = NESTING[word] ?? ['', -1];
  if (depth < 0) throw reader.unexpected();
  if (depth > 0) return { type, coordinates: nested(reader, depth) };
  reader.expect('(');
  const coordinates = positionFrom(reader);
  reader.expect(')');
  return { type, coordinates };
}

function nested(reader: Reader, depth: number): Json {
  return listOf(reader, () => {
    if (depth > 1) return nested(reader, depth - 1);
    // The positions of a multipoint may have parentheses of their own.
    if (!reader.takes('(')) return positionFrom(reader);
    const position = positionFrom(reader);
    reader.expect(')');
    return position;
  });
}

function positionFrom(reader: Reader): Json {
  const numbers = [numberFrom(reader), numberFrom(reader)];
  while (reader.peek().kind === 'number') numbers.push(numberFrom(reader));
  return numbers;
}

function numberFrom(reader: Reader): number {
  if (reader.peek().kind !== 'number') throw reader.unexpected();
  return Number(reader.next().text);
}

function listOf<Member>(reader: Reader, member: () => Member): Member[] {
  reader.expect('(');
  const members = [member()];
  while (reader.takes(',')) members.push(member());
  reader.expect(')');
  return members;
}
