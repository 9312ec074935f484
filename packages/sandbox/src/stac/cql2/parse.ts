import type { Json } from '../../json.js';
import { badParameter, type Problem } from '../api/http.js';

const MAX_DEPTH = 40;
const COMPARISONS = ['=', '<>', '<', '<=', '>', '>='];

/** Converts CQL2 text to CQL2 JSON, by recursive descent. */
export function parseText(text: string): Json {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = (ahead = 0): Token => tokens[at + ahead] ?? { kind: 'end', text: '' };
  /** Consumes the keyword or sign if it is next. */
  const takes = (wanted: string): boolean => {
    const { kind, text: found } = peek();
    const isNext = (kind === 'sign' || kind === 'name') && found.toUpperCase() === wanted;
    if (isNext) at += 1;
    return isNext;
  };
  const unexpected = (): Problem => {
    const { kind, text: found } = peek();
    return badParameter('filter', kind === 'end' ? 'ends too early' : `"${found}" is unexpected`);
  };
  const expect = (wanted: string): void => {
    if (!takes(wanted)) throw unexpected();
  };

  const joined = (op: 'or' | 'and', part: () => Json): Json => {
    const args = [part()];
    while (takes(op.toUpperCase())) args.push(part());
    return args.length > 1 ? { op, args } : (args[0] ?? null);
  };
  const disjunction = (depth: number): Json =>
    joined('or', () => joined('and', () => negation(depth)));
  const negation = (depth: number): Json => {
    if (depth > MAX_DEPTH) throw badParameter('filter', 'is nested too deeply');
    if (takes('NOT')) return not(negation(depth + 1));
    if (!takes('(')) return predicate();
    const inner = disjunction(depth + 1);
    expect(')');
    return inner;
  };
  const predicate = (): Json => {
    const { kind, text: word } = peek();
    if (kind === 'name' && /^[ST]_[A-Z]+$/i.test(word) && peek(1).text === '(') {
      at += 1;
      return { op: word.toLowerCase(), args: operands() };
    }
    const left = operand();
    const sign = COMPARISONS.find(takes);
    if (sign) return { op: sign, args: [left, operand()] };
    if (takes('IS')) {
      const negated = takes('NOT');
      expect('NULL');
      return negated ? not({ op: 'isNull', args: [left] }) : { op: 'isNull', args: [left] };
    }
    const negated = takes('NOT');
    const found = membership(left);
    if (found !== undefined) return negated ? not(found) : found;
    if (!negated && typeof left === 'boolean') return left;
    throw unexpected();
  };
  const membership = (left: Json): Json | undefined => {
    if (takes('LIKE')) return { op: 'like', args: [left, operand()] };
    if (takes('IN')) return { op: 'in', args: [left, operands()] };
    if (!takes('BETWEEN')) return undefined;
    const low = operand();
    expect('AND');
    return { op: 'between', args: [left, low, operand()] };
  };
  const operands = (): Json[] => {
    expect('(');
    const args = [operand()];
    while (takes(',')) args.push(operand());
    expect(')');
    return args;
  };
  const operand = (): Json => {
    const { kind, text: word } = peek();
    if (kind === 'end' || kind === 'sign') throw unexpected();
    at += 1;
    if (kind === 'number') return Number(word);
    if (kind === 'string') return word;
    if (kind === 'name' && peek().text === '(') return literal(word.toUpperCase(), operands());
    if (kind === 'name' && /^(true|false)$/i.test(word)) return word.toLowerCase() === 'true';
    return { property: word };
  };

  const parsed = disjunction(0);
  if (peek().kind !== 'end') throw unexpected();
  return parsed;
}

const not = (inner: Json): Json => ({ op: 'not', args: [inner] });

function literal(word: string, args: readonly Json[]): Json {
  const [first = null] = args;
  if (word === 'TIMESTAMP') return { timestamp: first };
  if (word === 'DATE') return { date: first };
  if (word === 'INTERVAL') return { interval: args };
  if (word === 'BBOX') return { bbox: args };
  throw badParameter('filter', `"${word}" is not a function here`);
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
    const { groups = {} } = PATTERN.exec(source) ?? {};
    const [kind, found] = Object.entries(groups).find(([, it]) => it !== undefined) ?? [];
    if (kind === undefined || found === undefined)
      throw badParameter('filter', `cannot be read at "${source.slice(from, from + 20)}"`);
    tokens.push({ kind: kind as Token['kind'], text: found.replaceAll("''", "'") });
  }
  return tokens;
}
