import { isObject, type JsonObject } from '@toolkeel/pack-kit';
import { FilterSyntaxError, TokenReader, tokensOf } from './lexer.js';
import { isGeometryWord, readWkt } from './wkt.js';

const MAX_DEPTH = 64;
const COMPARISONS = ['=', '<>', '<=', '>=', '<', '>'] as const;

/** Converts CQL2 text to CQL2 JSON. Throws a `FilterSyntaxError`. */
export function parseCql2(source: string): JsonObject {
  const parser = new Parser(new TokenReader(tokensOf(source)));
  return parser.whole();
}

/** Standard function names are lowercase in JSON; custom ones keep their case. */
const STANDARD_FUNCTION = /^(s_|t_|a_)[a-z]+$|^(casei|accenti)$/i;

class Parser {
  readonly #tokens: TokenReader;
  #depth = 0;

  constructor(reader: TokenReader) {
    this.#tokens = reader;
  }

  whole(): JsonObject {
    const expression = this.#or();
    if (this.#tokens.peek.kind !== 'end') this.#tokens.fail('expected the end');
    if (!isObject(expression))
      throw new FilterSyntaxError('the filter is a value, not a condition');
    return expression;
  }

  #or(): unknown {
    if (++this.#depth > MAX_DEPTH) this.#tokens.fail('nested too deeply');
    const parts = [this.#and()];
    while (this.#tokens.takeWord('OR')) parts.push(this.#and());
    this.#depth--;
    return parts.length === 1 ? parts[0] : call('or', parts);
  }

  #and(): unknown {
    const parts = [this.#not()];
    while (this.#tokens.takeWord('AND')) parts.push(this.#not());
    return parts.length === 1 ? parts[0] : call('and', parts);
  }

  #not(): unknown {
    let negated = false;
    while (this.#tokens.takeWord('NOT')) negated = !negated;
    const predicate = this.#predicate();
    return negated ? call('not', [predicate]) : predicate;
  }

  #predicate(): unknown {
    const left = this.#sum();
    const mark = COMPARISONS.find((symbol) => this.#tokens.takeMark(symbol));
    if (mark) return call(mark, [left, this.#sum()]);
    if (this.#tokens.takeWord('IS')) {
      const negated = this.#tokens.takeWord('NOT');
      this.#tokens.needWord('NULL');
      return maybeNot(negated, call('isNull', [left]));
    }
    const negated = this.#tokens.takeWord('NOT');
    if (this.#tokens.takeWord('LIKE')) return maybeNot(negated, call('like', [left, this.#sum()]));
    if (this.#tokens.takeWord('BETWEEN')) {
      const low = this.#sum();
      this.#tokens.needWord('AND');
      return maybeNot(negated, call('between', [left, low, this.#sum()]));
    }
    if (this.#tokens.takeWord('IN')) return maybeNot(negated, call('in', [left, this.#list()]));
    if (negated) this.#tokens.fail('expected LIKE, BETWEEN or IN');
    return left;
  }

  #sum(): unknown {
    let left = this.#product();
    for (;;) {
      const op = ['+', '-'].find((mark) => this.#tokens.takeMark(mark));
      if (op === undefined) return left;
      left = call(op, [left, this.#product()]);
    }
  }

  #product(): unknown {
    let left = this.#power();
    for (;;) {
      const mark = ['*', '/', '%'].find((symbol) => this.#tokens.takeMark(symbol));
      const op = mark ?? (this.#tokens.takeWord('DIV') ? 'div' : undefined);
      if (op === undefined) return left;
      left = call(op, [left, this.#power()]);
    }
  }

  #power(): unknown {
    const base = this.#signed();
    return this.#tokens.takeMark('^') ? call('^', [base, this.#signed()]) : base;
  }

  #signed(): unknown {
    if (!this.#tokens.takeMark('-')) {
      this.#tokens.takeMark('+');
      return this.#primary();
    }
    const value = this.#primary();
    return typeof value === 'number' ? -value : call('*', [-1, value]);
  }

  #primary(): unknown {
    const { peek } = this.#tokens;
    if (peek.kind === 'number' || peek.kind === 'text') return this.#tokens.next().value;
    if (peek.kind === 'name') return this.#name(peek.value, peek.quoted);
    if (!this.#tokens.isMark('(')) this.#tokens.fail('expected a value');
    return this.#parenthesis();
  }

  /** An expression or a list in parentheses. */
  #parenthesis(): unknown {
    this.#tokens.needMark('(');
    if (this.#tokens.takeMark(')')) return [];
    const first = this.#or();
    if (this.#tokens.takeMark(')')) return first;
    const rest = [first];
    while (this.#tokens.takeMark(',')) rest.push(this.#or());
    this.#tokens.needMark(')');
    return rest;
  }

  #list(): readonly unknown[] {
    if (!this.#tokens.isMark('(')) this.#tokens.fail('expected a list');
    const value = this.#parenthesis();
    return Array.isArray(value) ? value : [value];
  }

  #name(name: string, quoted: boolean): unknown {
    const word = name.toUpperCase();
    if (!quoted) {
      if (word === 'TRUE' || word === 'FALSE') {
        this.#tokens.next();
        return word === 'TRUE';
      }
      if (RESERVED.has(word)) this.#tokens.fail('expected a value');
      if (this.#tokens.isMarkAfterNext('(')) return this.#call(name, word);
      if (isGeometryWord(name)) return readWkt(this.#tokens);
    }
    this.#tokens.next();
    return { property: name };
  }

  #call(name: string, word: string): unknown {
    if (isGeometryWord(name)) return readWkt(this.#tokens);
    this.#tokens.next();
    const args = this.#list();
    if (word === 'TIMESTAMP') return { timestamp: args[0] };
    if (word === 'DATE') return { date: args[0] };
    // The ends may be DATE or TIMESTAMP calls: INTERVAL(DATE('…'), '..').
    if (word === 'INTERVAL') return { interval: args.map(instantOf) };
    if (word === 'BBOX') return { bbox: args };
    return call(STANDARD_FUNCTION.test(name) ? name.toLowerCase() : name, args);
  }
}

const RESERVED: ReadonlySet<string> = new Set('AND OR NOT LIKE BETWEEN IN IS NULL DIV'.split(' '));

function call(op: string, args: readonly unknown[]): JsonObject {
  return { op, args };
}

function maybeNot(negated: boolean, expression: JsonObject): JsonObject {
  return negated ? call('not', [expression]) : expression;
}

function instantOf(value: unknown): unknown {
  return isObject(value) ? (value['timestamp'] ?? value['date'] ?? value) : value;
}
